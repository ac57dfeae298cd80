/** Every spelling under which a secret might slip out. */
function spellings(secret: Buffer): Buffer[] {
  const text = secret.toString('latin1');
  const words = [
    secret.toString('hex'),
    secret.toString('hex').toUpperCase(),
    secret.toString('base64'),
    secret.toString('base64url'),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
  return [secret, ...words.map((word) => Buffer.from(word, 'latin1'))];
}

/** Secrets that are looked for, each by the name that a hit is reported under. */
export class Canaries {
  readonly #spellings = new Map<string, Buffer[]>();

  add(name: string, secret: Buffer | string): void {
    this.#spellings.set(name, spellings(Buffer.from(secret)));
  }

  /** What of them is in `bytes`, named with the place; a string stands for its Latin-1 bytes. */
  hits(place: string, bytes: Buffer | string): string[] {
    const where = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return [...this.#spellings]
      .filter(([, words]) => words.some((word) => where.includes(word)))
      .map(([name]) => `${name} in ${place}`);
  }
}
