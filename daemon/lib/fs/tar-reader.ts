import { BLOCK_BYTES, paddingOf, readTarHeader, TarError, type TarMember } from './tar-header.ts';

/** Receives the content of one member. */
export interface TarSink {
  write(bytes: Buffer): Promise<void>;
  /** Called once, after the last byte of the content. */
  end(): Promise<void>;
}

/** Maximum bytes of zero padding after the end of the archive. Some writers pad to a full record. */
const MAX_TRAILING_BYTES = 64 * 1024;

/** Reads requested amounts of bytes from a stream and holds at most one of its chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Returns between 1 and `maxBytes` bytes, or null at the end. */
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

  /** Passes exactly `size` bytes to `write` in chunks. Throws TarError when there are fewer. */
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
      throw new TarError('has data after its end');
    }
  }
}

/**
 * Reads a tar archive as a stream with constant memory. Calls `open` for each member before its content,
 * including links, folders and devices. `open` returns the sink for the content or throws to refuse the
 * member. Throws TarError for a damaged or truncated archive, and rethrows errors of `open` and the sinks.
 * Always closes the source.
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
