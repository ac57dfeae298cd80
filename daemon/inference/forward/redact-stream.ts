const STAR = 0x2a;

const EMPTY = Buffer.alloc(0);

/** Bytes that wait for the next chunk, original and redacted. */
interface Pending {
  readonly original: Buffer;
  readonly redacted: Buffer;
}

const NO_PENDING: Pending = { original: EMPTY, redacted: EMPTY };

/**
 * Redacts secrets in a stream, across chunk boundaries. Replaces each secret with as many asterisks, so that
 * announced lengths stay right. Holds back the end of a chunk that may be the start of a secret. Searches the
 * original bytes, so that overlapping and nested secrets are found.
 */
export class StreamRedactor {
  readonly #secrets: readonly Buffer[];
  #pending = NO_PENDING;

  constructor(secrets: readonly Buffer[]) {
    this.#secrets = secrets;
  }

  /** Returns the bytes that can be sent now; the same Buffer when there is nothing to redact. */
  push(chunk: Buffer): Buffer {
    const received = joined(this.#pending.original, chunk);
    const clean = starOut(received, joined(this.#pending.redacted, chunk), this.#secrets);
    const keep = Math.max(0, ...this.#secrets.map((secret) => partialMatchLength(received, secret)));
    const at = received.length - keep;
    this.#pending =
      keep === 0 ? NO_PENDING : { original: received.subarray(at), redacted: clean.subarray(at) };
    return keep === 0 ? clean : clean.subarray(0, at);
  }

  /** Returns the rest at the end of the stream. */
  end(): Buffer {
    const { redacted } = this.#pending;
    this.#pending = NO_PENDING;
    return redacted;
  }
}

function joined(waiting: Buffer, chunk: Buffer): Buffer {
  return waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
}

/** Returns `redacted` with asterisks wherever `original` contains a secret. Never writes to `original`. */
function starOut(received: Buffer, clean: Buffer, secrets: readonly Buffer[]): Buffer {
  let out = clean;
  for (const secret of secrets) {
    for (let at = received.indexOf(secret); at >= 0; at = received.indexOf(secret, at + 1)) {
      if (out === received) out = Buffer.from(received);
      out.fill(STAR, at, at + secret.length);
    }
  }
  return out;
}

/** Returns how many bytes at the end of `bytes` are a proper prefix of `secret`. */
function partialMatchLength(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length--) {
    if (bytes[bytes.length - length] !== secret[0]) continue;
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length;
  }
  return 0;
}
