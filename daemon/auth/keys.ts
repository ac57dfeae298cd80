import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

export type KeyTier = 'admin' | 'client';

/** The two current keys, read at each use. A blank key is unset. */
export interface KeySource {
  admin(): string;
  client(): string;
}

/** Compares keys. No other module compares secrets. */
export interface Keys {
  /** Whether a key of this tier is set. */
  has(tier: KeyTier): boolean;
  /**
   * Returns the tier of `offered`: the admin key is compared first, then the client key
   * (docs/spec/specification.md#tier-resolution).
   */
  tierOf(offered: string): KeyTier | null;
}

const BYTES = 32;

/**
 * Writes the SHA-256 of a text to `into`. Goes through hex text, because a separate Buffer costs several
 * times the hash.
 */
function digestInto(into: Buffer, text: string): Buffer {
  into.write(hash('sha256', text, 'hex'), 'hex');
  return into;
}

/** Caches the digest of a key until the key changes, so that a rotation takes effect immediately. */
class KeyDigest {
  readonly #read: () => string;
  /** The digest of an unset key. No text hashes to it. */
  readonly #nothing = randomBytes(BYTES);
  readonly #known = Buffer.alloc(BYTES);
  #key = '';
  #digest: Buffer = this.#nothing;

  constructor(read: () => string) {
    this.#read = read;
  }

  digest(): Buffer {
    const key = this.#read();
    if (key !== this.#key) {
      this.#key = key;
      this.#digest = key.trim() === '' ? this.#nothing : digestInto(this.#known, key);
    }
    return this.#digest;
  }

  isSet(): boolean {
    return this.digest() !== this.#nothing;
  }
}

/**
 * Compares by SHA-256 digest in constant time: the offered text is hashed once and always compared with both
 * keys, whichever is set and whichever matches (docs/spec/specification.md#login-order,
 * docs/spec/contract.md#keys).
 */
export function createKeys(source: KeySource): Keys {
  const known = { admin: new KeyDigest(source.admin), client: new KeyDigest(source.client) };
  const presented = Buffer.alloc(BYTES);
  return {
    has: (tier) => known[tier].isSet(),
    tierOf(offered) {
      digestInto(presented, offered);
      const admin = timingSafeEqual(presented, known.admin.digest());
      const client = timingSafeEqual(presented, known.client.digest());
      if (admin) return 'admin';
      return client ? 'client' : null;
    },
  };
}

/** First 8 hex characters of the SHA-256 of a key (docs/spec/specification.md#rotate-response). */
export const fingerprint = (key: string): string => hash('sha256', key, 'hex').slice(0, 8);

/** A new key: 32 random bytes as 43 base64url characters, never with a leading dash that a command line could misread. */
export function generateKey(): string {
  for (;;) {
    const key = randomBytes(32).toString('base64url');
    if (!key.startsWith('-')) return key;
  }
}
