/** Every encoding in which a secret could leak. */
function encodingsOf(secret: Buffer): Buffer[] {
  const text = secret.toString('latin1');
  const encodings = [
    secret.toString('hex'),
    secret.toString('hex').toUpperCase(),
    secret.toString('base64'),
    secret.toString('base64url'),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
  return [secret, ...encodings.map((word) => Buffer.from(word, 'latin1'))];
}

/** Secrets to search for, each with the name that a hit reports. */
export class Canaries {
  readonly #encodings = new Map<string, Buffer[]>();

  add(name: string, secret: Buffer | string): void {
    this.#encodings.set(name, encodingsOf(Buffer.from(secret)));
  }

  /** Returns the secrets found in `bytes`, each with `place`. A string is searched as its Latin-1 bytes. */
  hits(place: string, bytes: Buffer | string): string[] {
    const haystack = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return [...this.#encodings]
      .filter(([, encodings]) => encodings.some((encoding) => haystack.includes(encoding)))
      .map(([name]) => `${name} in ${place}`);
  }
}
