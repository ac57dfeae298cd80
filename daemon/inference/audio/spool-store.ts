import { GatewayError } from '../../contract/errors.ts';
import { Spool, sweepSpools } from '../../lib/fs/spool.ts';

/** Maximum bytes of all uploads on disk. */
const MAX_STORED_BYTES = 4 * 2 ** 30;

/** Stores uploads that are larger than memory in unnamed files of one folder. */
export class SpoolStore {
  readonly #folder: string;
  readonly #maxBytes: number;
  #stored = 0;

  constructor(folder: string, most = MAX_STORED_BYTES) {
    this.#folder = folder;
    this.#maxBytes = most;
    void sweepSpools(folder);
  }

  async open(): Promise<Spool> {
    return Spool.open(this.#folder).catch(throwNoSpace);
  }

  /** Throws 503 `audio.no_room` when the disk or its share is full. */
  async write(spool: Spool, pieces: readonly Buffer[], length: number): Promise<void> {
    if (this.#stored + length > this.#maxBytes)
      throw throwNoSpace(new Error('too many recordings are being received'));
    this.#stored += length;
    const before = spool.length;
    await spool.write(pieces).catch((error: unknown) => {
      this.#stored -= length - (spool.length - before);
      throwNoSpace(error);
    });
  }

  async close(spool: Spool): Promise<void> {
    this.#stored -= spool.length;
    await spool.close();
  }
}

function throwNoSpace(cause: unknown): never {
  throw new GatewayError('audio.no_room', { retryAfterS: 10, cause });
}
