const STAR = 0x2a;

const EMPTY = Buffer.alloc(0);

/** Bytes that wait for what follows, as they came and with their stars. */
interface Pending {
  readonly original: Buffer;
  readonly redacted: Buffer;
}

const NO_PENDING: Pending = { original: EMPTY, redacted: EMPTY };

/**
 * Blots secrets out of bytes that pass by, wherever a chunk ends: each becomes as many stars, so that lengths stay as
 * they were told. Of a chunk that ends like a secret begins, that end waits for what follows. Secrets are looked for in
 * the bytes as they came, so that one is found also where it holds another one or shares bytes with it.
 */
export class StreamRedactor {
  readonly #secrets: readonly Buffer[];
  #pending = NO_PENDING;

  constructor(secrets: readonly Buffer[]) {
    this.#secrets = secrets;
  }

  /** What may go on now; the very same bytes when there is nothing to hide. */
  push(chunk: Buffer): Buffer {
    const came = joined(this.#pending.original, chunk);
    const clean = starOut(came, joined(this.#pending.redacted, chunk), this.#secrets);
    const keep = Math.max(0, ...this.#secrets.map((secret) => partialMatchLength(came, secret)));
    const at = came.length - keep;
    this.#pending = keep === 0 ? NO_PENDING : { original: came.subarray(at), redacted: clean.subarray(at) };
    return keep === 0 ? clean : clean.subarray(0, at);
  }

  /** The rest, at the end. */
  end(): Buffer {
    const { redacted } = this.#pending;
    this.#pending = NO_PENDING;
    return redacted;
  }
}

function joined(waiting: Buffer, chunk: Buffer): Buffer {
  return waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
}

/** `clean` with stars wherever `came` has a secret; `came` itself is never written to. */
function starOut(came: Buffer, clean: Buffer, secrets: readonly Buffer[]): Buffer {
  let out = clean;
  for (const secret of secrets) {
    for (let at = came.indexOf(secret); at >= 0; at = came.indexOf(secret, at + 1)) {
      if (out === came) out = Buffer.from(came);
      out.fill(STAR, at, at + secret.length);
    }
  }
  return out;
}

/** How many bytes at the end of `bytes` are the beginning of `secret`, the whole secret not among them. */
function partialMatchLength(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length--) {
    if (bytes[bytes.length - length] !== secret[0]) continue;
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length;
  }
  return 0;
}
