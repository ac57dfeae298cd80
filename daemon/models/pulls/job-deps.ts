import type { Outbound } from '../../lib/net/outbound.ts';
import type { PullRow } from '../../store/pulls.ts';
import type { Hub } from '../hub/hub.ts';
import type { FileLock } from './file-lock.ts';
import type { PullJob } from './pull-job.ts';
import type { Rate } from './rate.ts';
import type { Semaphore } from './semaphore.ts';

/** What a finished pull is registered with. */
export interface PulledModel {
  /** The file, or the folder of the model. */
  readonly path: string;
  readonly repo: string;
  readonly revision: string;
  readonly licence: string | null;
  /** Of a model in one file. */
  readonly sha256: string | null;
}

/** What all jobs of a gateway share. */
export interface JobDeps {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly hub: Pick<Hub, 'endpoint'>;
  /** The models folder. */
  readonly root: string;
  readonly rate: Rate;
  readonly semaphore: Semaphore;
  /** Jobs that need the same files go one after the other, so that each file is transferred once. */
  readonly fileLock: FileLock;
  /** First wait after a failure, milliseconds. */
  readonly baseMs: number;
  /** Free bytes below the models folder. */
  free(): Promise<number>;
  /** Why what was fetched is no model; null when it is one. */
  findProblem(path: string): Promise<string | null>;
  /** Registers what is in its place now and answers its id. */
  register(model: PulledModel): Promise<string>;
  /** A failure that nobody foresaw. */
  onUnexpectedError(error: unknown): void;
  /** The row has changed and must last; never throws. */
  save(row: PullRow): void;
  tag(id: string, path: string, etag: string | null): void;
  /** Something to show has changed: at once for a state, when it suits for bytes. */
  changed(job: PullJob, what: 'state' | 'bytes'): void;
  now(): number;
}
