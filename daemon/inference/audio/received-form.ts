import { GatewayError } from '../../contract/errors.ts';
import type { OutboundBody } from '../../kit/outbound.ts';
import { Spool, sweepSpools } from '../../kit/spool.ts';
import type { Receive } from '../serve.ts';
import { Flow } from './flow.ts';
import { FormFields } from './form-fields.ts';

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
  async write(spool: Spool, pieces: readonly Buffer[], length: number): Promise<void> {
    if (this.#stored + length > this.#most) throw noRoom(new Error('too many recordings at once'));
    this.#stored += length;
    const before = spool.length;
    await spool.write(...pieces).catch((error: unknown) => {
      this.#stored -= length - (spool.length - before);
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

/** A form as far as it is known: whole, or on its way. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

export interface FormSource {
  readonly contentType: string;
  /** Bytes of the whole form as its sender has declared them; NaN when it has not. */
  readonly declared: number;
  readonly receive: Receive;
  /** Milliseconds of a steady clock; default that of this process. */
  now?(): number;
}

/** A form goes on at once when its first bytes, so many of them, came at this rate or faster (bytes and bytes per second). */
const FIRST_BYTES = 1 << 19;
const FAST = 16 * 2 ** 20;

/**
 * Takes a form, in memory that does not grow with it. One whose model comes first goes on to its engine as it comes, if its
 * sender is fast. Every other one is taken whole before anything is done with it: an engine is not held up by a slow sender, and
 * what it is sent can be sent again. Rejects with what `receive` rejects with, 415 and 503.
 */
export async function receiveForm(
  source: FormSource,
  spools: Spools,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const { contentType, declared, receive, now = () => performance.now() } = source;
  const fields = new FormFields(contentType);
  const kept = new Kept(spools);
  const over = new AbortController();
  const since = now();
  const flows = Promise.withResolvers<Flow>();
  let flow: Flow | null = null;
  const goesOn = () =>
    fields.named &&
    declared > kept.bytes &&
    kept.bytes >= FIRST_BYTES &&
    kept.bytes / (now() - since) >= FAST / 1000;
  const whole = receive(
    (chunk) => {
      fields.push(chunk);
      if (flow !== null) {
        fields.once();
        return flow.push(chunk);
      }
      const waits = kept.push(chunk);
      if (!kept.stored && goesOn()) {
        flow = new Flow(declared, kept.take());
        flows.resolve(flow);
        return undefined;
      }
      return waits;
    },
    AbortSignal.any([signal, over.signal]),
  );
  whole.then(
    () => flow?.end(),
    (error: Error) => flow?.fail(error),
  );
  try {
    const body = await Promise.race([flows.promise, whole.then(() => kept.whole())]);
    const dispose = () => {
      const reason = new Error('the form is not wanted any more');
      over.abort(reason);
      flow?.fail(reason);
      kept.dispose();
    };
    return { fields, body, dispose };
  } catch (error) {
    kept.dispose();
    throw error;
  }
}

/** Bytes that are written in one step: each takes its way over a thread. */
const BATCH = 1 << 20;
/** So many bytes may wait for the disk before their sender has to. */
const MOST_WAITING = 3 << 20;

/** A recording as it comes: a short one in memory, a long one on its way to the disk in few large steps. */
class Kept {
  readonly #spools: Spools;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #spool: Spool | null = null;
  /** The step under way; never rejects. */
  #writing: Promise<void> | null = null;
  #failed: { readonly error: unknown } | null = null;
  #gone = false;

  constructor(spools: Spools) {
    this.#spools = spools;
  }

  /** Bytes that wait in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether some of it lies on the disk, or is on its way there. */
  get stored(): boolean {
    return this.#spool !== null || this.#writing !== null || this.#failed !== null;
  }

  /** Gives away what waits; it is kept no more. */
  take(): Buffer[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return waiting;
  }

  /** Takes bytes; asks to wait by a promise, which rejects once they cannot be kept. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#failed === null && this.#bytes <= BATCH) return undefined;
    const writing = this.#write();
    return this.#failed === null && this.#bytes <= MOST_WAITING
      ? undefined
      : writing.then(() => this.#check());
  }

  /** All that came. */
  async whole(): Promise<OutboundBody> {
    if (!this.stored) return Buffer.concat(this.#waiting);
    while (this.#failed === null && this.#bytes > 0) await this.#write();
    await this.#writing;
    this.#check();
    return this.#spool as Spool;
  }

  dispose(): void {
    this.#gone = true;
    this.#waiting = [];
    const settled = this.#writing ?? Promise.resolve();
    void settled.then(() => this.#spool && this.#spools.close(this.#spool));
  }

  #check(): void {
    if (this.#failed !== null) throw this.#failed.error;
  }

  /** Begins to write what waits, unless that is done already. */
  #write(): Promise<void> {
    this.#writing ??= this.#step()
      .catch((error: unknown) => {
        this.#failed = { error };
      })
      .finally(() => {
        this.#writing = null;
      });
    return this.#writing;
  }

  async #step(): Promise<void> {
    this.#spool ??= await this.#spools.open();
    const [pieces, length] = [this.#waiting, this.#bytes];
    this.#waiting = [];
    this.#bytes = 0;
    if (!this.#gone) await this.#spools.write(this.#spool, pieces, length);
  }
}
