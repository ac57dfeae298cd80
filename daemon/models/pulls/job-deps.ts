import type { Semaphore } from '../../lib/async/semaphore.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { PullRow } from '../../store/pulls.ts';
import type { Hub } from '../hub/hub.ts';
import type { FileLock } from './file-lock.ts';
import type { Rate } from './rate.ts';

/** The data with which a finished pull is registered. */
export interface PulledModel {
  /** The file or folder of the model. */
  readonly path: string;
  readonly repo: string;
  readonly revision: string;
  readonly licence: string | null;
  /** SHA-256 of a model in one file. */
  readonly sha256: string | null;
}

/** Dependencies that all jobs share. `Job` is the class of the jobs, which imports this file. */
export interface JobDeps<Job> {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly hub: Pick<Hub, 'endpoint'>;
  /** The models folder. */
  readonly root: string;
  readonly rate: Rate;
  readonly semaphore: Semaphore;
  /** Serialises jobs that need the same files, so that each file is transferred once. */
  readonly fileLock: FileLock;
  /** First delay after a failure in milliseconds. */
  readonly baseMs: number;
  /** Returns the free bytes below the models folder. */
  free(): Promise<number>;
  /** Returns why the download is no model. Null when it is one. */
  findProblem(path: string): Promise<string | null>;
  /** Registers the installed model and returns its id. */
  register(model: PulledModel): Promise<string>;
  /** Reports an unexpected error. */
  onUnexpectedError(error: unknown): void;
  /** Persists a changed row. Never throws. */
  save(row: PullRow): void;
  tag(id: string, path: string, etag: string | null): void;
  /** Reports a visible change: at once for a state, throttled for bytes. */
  changed(job: Job, what: 'state' | 'bytes'): void;
  now(): number;
}
