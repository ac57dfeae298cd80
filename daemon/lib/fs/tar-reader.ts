import { BLOCK, paddingOf, readTarHeader, TarError, type TarMember } from './tar-header.ts';

/** Where the content of one member goes. */
export interface TarSink {
  write(bytes: Buffer): Promise<void>;
  /** Called once, when the content is whole. */
  end(): Promise<void>;
}

/** Zeros after the end that writers fill their records with. */
const MOST_FILLING = 64 * 1024;

/** Takes bytes from a stream in the portions that are asked for, without holding more than one of its pieces. */
class Source {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  /** At most `most` bytes, at least one; null at the end. */
  async some(most: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#pieces.next();
      if (done) return null;
      this.#rest = value;
    }
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Hands out exactly `size` bytes in pieces. Throws TarError when there are fewer. */
  async pass(size: number, take: (bytes: Buffer) => Promise<void>): Promise<void> {
    for (let left = size; left > 0; ) {
      const piece = await this.some(left);
      if (piece === null) throw new TarError('is cut short');
      left -= piece.length;
      await take(piece);
    }
  }

  async block(): Promise<Buffer> {
    const parts: Buffer[] = [];
    await this.pass(BLOCK, async (piece) => void parts.push(piece));
    return Buffer.concat(parts);
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

async function filling(source: Source): Promise<void> {
  let seen = 0;
  for (let piece = await source.some(BLOCK); piece !== null; piece = await source.some(BLOCK)) {
    seen += piece.length;
    if (seen > MOST_FILLING || piece.some((byte) => byte !== 0)) {
      throw new TarError('goes on after its end');
    }
  }
}

/**
 * Reads a tar archive from the front in flat memory. `open` sees each member before its content and answers where that goes, or
 * throws to refuse it: links, folders and devices are members like any other. Throws TarError for an archive that is damaged or
 * cut short, and whatever `open` and the sinks throw; the source is closed in every case.
 */
export async function readTar(
  pieces: AsyncIterable<Buffer>,
  open: (member: TarMember) => Promise<TarSink>,
): Promise<void> {
  const source = new Source(pieces);
  const nothing = async () => {};
  try {
    for (;;) {
      const member = readTarHeader(await source.block());
      if (member === null) return await filling(source);
      const sink = await open(member);
      await source.pass(member.size, sink.write);
      await source.pass(paddingOf(member.size), nothing);
      await sink.end();
    }
  } finally {
    await source.close();
  }
}
