import { BLOCK_BYTES, paddingOf, readTarHeader, TarError, type TarMember } from './tar-header.ts';

/** Where the content of one member goes. */
export interface TarSink {
  write(bytes: Buffer): Promise<void>;
  /** Called once, when the content is whole. */
  end(): Promise<void>;
}

/** Zeros after the end that writers fill their records with. */
const MAX_TRAILING_BYTES = 64 * 1024;

/** Takes bytes from a stream in the portions that are asked for, without holding more than one of its pieces. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** At most `most` bytes, at least one; null at the end. */
  async read(maxBytes: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return null;
      this.#rest = value;
    }
    const taken = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Hands out exactly `size` bytes in pieces. Throws TarError when there are fewer. */
  async copy(size: number, write: (bytes: Buffer) => Promise<void>): Promise<void> {
    for (let left = size; left > 0; ) {
      const chunk = await this.read(left);
      if (chunk === null) throw new TarError('is cut short');
      left -= chunk.length;
      await write(chunk);
    }
  }

  async readBlock(): Promise<Buffer> {
    const parts: Buffer[] = [];
    await this.copy(BLOCK_BYTES, async (chunk) => void parts.push(chunk));
    return Buffer.concat(parts);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

async function assertOnlyPadding(source: ByteSource): Promise<void> {
  let total = 0;
  for (let chunk = await source.read(BLOCK_BYTES); chunk !== null; chunk = await source.read(BLOCK_BYTES)) {
    total += chunk.length;
    if (total > MAX_TRAILING_BYTES || chunk.some((byte) => byte !== 0)) {
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
  chunks: AsyncIterable<Buffer>,
  open: (member: TarMember) => Promise<TarSink>,
): Promise<void> {
  const source = new ByteSource(chunks);
  const discard = async () => {};
  try {
    for (;;) {
      const member = readTarHeader(await source.readBlock());
      if (member === null) return await assertOnlyPadding(source);
      const sink = await open(member);
      await source.copy(member.size, sink.write);
      await source.copy(paddingOf(member.size), discard);
      await sink.end();
    }
  } finally {
    await source.close();
  }
}
