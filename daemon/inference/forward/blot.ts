const STAR = 0x2a;

/**
 * Blots secrets out of bytes that pass by, wherever a chunk ends: each becomes as many stars, so that lengths stay as
 * they were told. Of a chunk that ends like a secret begins, that end waits for what follows.
 */
export class Blotter {
  readonly #secrets: readonly Buffer[];
  #waiting: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly Buffer[]) {
    this.#secrets = secrets;
  }

  /** What may go on now; the very same bytes when there is nothing to hide. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    const clean = blotted(bytes, this.#secrets);
    const keep = Math.max(0, ...this.#secrets.map((secret) => startedAtEnd(clean, secret)));
    this.#waiting = keep === 0 ? Buffer.alloc(0) : clean.subarray(clean.length - keep);
    return keep === 0 ? clean : clean.subarray(0, clean.length - keep);
  }

  /** The rest, at the end. */
  end(): Buffer {
    const rest = this.#waiting;
    this.#waiting = Buffer.alloc(0);
    return rest;
  }
}

function blotted(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  let out = bytes;
  for (const secret of secrets) {
    for (let at = out.indexOf(secret); at >= 0; at = out.indexOf(secret, at + secret.length)) {
      if (out === bytes) out = Buffer.from(bytes);
      out.fill(STAR, at, at + secret.length);
    }
  }
  return out;
}

/** How many bytes at the end of `bytes` are the beginning of `secret`, the whole secret not among them. */
function startedAtEnd(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length--) {
    if (bytes[bytes.length - length] !== secret[0]) continue;
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length;
  }
  return 0;
}
