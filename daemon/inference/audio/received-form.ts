import { GatewayError } from '../../contract/errors.ts';
import type { OutboundBody } from '../../kit/outbound.ts';
import { Spool, sweepSpools } from '../../kit/spool.ts';
import type { Receive } from '../serve.ts';
import { FormFields } from './form-fields.ts';

/** A recording up to this size stays in memory. */
const IN_MEMORY = 1 << 20;
/** Bytes of all recordings that lie on the disk at once. */
const MOST_STORED = 4 * 2 ** 30;

/** Where recordings lie between their sender and their engine: files without names in one folder. */
export class Spools {
  readonly #folder: string;
  readonly #most: number;
  #stored = 0;

  constructor(folder: string, most = MOST_STORED) {
    this.#folder = folder;
    this.#most = most;
    void sweepSpools(folder);
  }

  async open(): Promise<Spool> {
    return Spool.open(this.#folder).catch(noRoom);
  }

  /** Throws 503 `audio.no_room` when the disk or the share of it is full. */
  async write(spool: Spool, bytes: Buffer): Promise<void> {
    if (this.#stored + bytes.length > this.#most) throw noRoom(new Error('too many recordings at once'));
    this.#stored += bytes.length;
    await spool.write(bytes).catch((error: unknown) => {
      this.#stored -= bytes.length;
      noRoom(error);
    });
  }

  async close(spool: Spool): Promise<void> {
    this.#stored -= spool.length;
    await spool.close();
  }
}

function noRoom(cause: unknown): never {
  throw new GatewayError('audio.no_room', { retryAfterS: 10, cause });
}

/** A form that has arrived whole. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

/**
 * Takes a whole form before anything is done with it, in memory that does not grow with it. An engine is not held up by a
 * slow sender then, and what it is sent can be sent again. Rejects with what `receive` rejects with, 415 and 503.
 */
export async function receiveForm(
  contentType: string,
  receive: Receive,
  spools: Spools,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const fields = new FormFields(contentType);
  let parts: Buffer[] = [];
  let length = 0;
  let spool: Spool | null = null;
  const store = async (chunk: Buffer) => {
    spool ??= await spools.open();
    for (const part of parts.splice(0)) await spools.write(spool, part);
    await spools.write(spool, chunk);
  };
  const dispose = () => {
    parts = [];
    if (spool !== null) void spools.close(spool);
    spool = null;
  };
  try {
    await receive((chunk) => {
      fields.push(chunk);
      length += chunk.length;
      if (length > IN_MEMORY) return store(chunk);
      parts.push(chunk);
      return undefined;
    }, signal);
  } catch (error) {
    dispose();
    throw error;
  }
  return { fields, body: spool ?? Buffer.concat(parts), dispose };
}
