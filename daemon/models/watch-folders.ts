import { setTimeout as pause } from 'node:timers/promises';
import type { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import { isOtherFolder, pathState, UNKNOWN_STATE } from './path-state.ts';

/** Paths below one model folder with their states at the last scan. */
export type WatchedPaths = ReadonlyMap<string, string>;

export interface FolderWatchDeps {
  /** Returns the paths to watch, by model folder. Empty before the first scan. */
  watched(): ReadonlyMap<string, WatchedPaths>;
  /** Scans the model folders. Never rejects. */
  scan(): Promise<void>;
  readonly mountGuard: MountGuard;
  readonly log: Log;
  /** Milliseconds between two checks. */
  readonly everyMs?: number;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

const EVERY_MS = 4_000;
/** A file that is still being copied is scanned after this time, so that others are not held up by it. */
const MAX_UNSETTLED_MS = 30_000;
/** Minimum milliseconds between two checks on request. */
const REQUEST_EVERY_MS = 2_000;
/** Maximum milliseconds that a request waits for a check and the scan. */
const REQUEST_WAIT_MS = 8_000;
/** Paths of one operation on a disk: it has a time limit, and other operations on the disk wait for it. */
const PATHS_AT_ONCE = 64;

type States = ReadonlyMap<string, string>;

/** Returns the known states that differ from an earlier reading of the same paths. */
const changes = (before: States, now: States): [path: string, state: string][] =>
  [...now].filter(
    ([path, state]) => state !== UNKNOWN_STATE && before.has(path) && before.get(path) !== state,
  );

/**
 * Scans the model folders again when something in them changed: a file was added, replaced or removed, or a disk was
 * mounted after the start. Reads times of folders and files instead of listening for events, which network shares do not
 * have. A folder that appears is scanned at once; files that change are scanned when they have settled.
 */
export class FolderWatch {
  readonly #deps: FolderWatchDeps;
  readonly #now: () => number;
  /** States at the check before. */
  #last: States = new Map();
  /** What the last scan of this watch recorded, and the states for which it was started: it may not record them. */
  #scanned: { readonly watched: ReadonlyMap<string, WatchedPaths>; readonly states: States } | null = null;
  #unsettledSince: number | null = null;
  #running: Promise<boolean> | null = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: FolderWatchDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /** Starts the checks. They do not keep the process running. */
  start(): void {
    this.#timer ??= setInterval(() => void this.check(), this.#deps.everyMs ?? EVERY_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /**
   * Checks the folders once, and scans them when they changed. Returns whether they were scanned. Calls during a check
   * share it. `atOnce` does not wait until files have settled. Never rejects.
   */
  check(atOnce = false): Promise<boolean> {
    this.#running ??= this.#check(atOnce)
      .catch((error: Error) => {
        this.#deps.log.warn({ reason: error.message }, 'the model folders could not be checked');
        return false;
      })
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  /**
   * Checks the folders for a request whose model is unknown, at most every two seconds. Returns whether they were
   * scanned.
   */
  async checkForRequest(): Promise<boolean> {
    const now = this.#now();
    if (this.#running === null && now - this.#checkedAt < REQUEST_EVERY_MS) return false;
    this.#checkedAt = now;
    const limit = new AbortController();
    const late = pause(REQUEST_WAIT_MS, false, { signal: limit.signal, ref: false }).catch(() => false);
    const scanned = await Promise.race([this.check(true), late]);
    limit.abort();
    return scanned;
  }

  async #check(atOnce: boolean): Promise<boolean> {
    const watched = this.#deps.watched();
    const baseline = new Map([...watched.values()].flatMap((paths) => [...paths]));
    const now = await this.#read(watched);
    const isSettled = changes(this.#last, now).length === 0;
    this.#last = now;
    const scannedFor = this.#scanned?.watched === watched ? this.#scanned.states : null;
    const isChanged = changes(baseline, now).some(([path, state]) => scannedFor?.get(path) !== state);
    if (!isChanged) {
      this.#unsettledSince = null;
      return false;
    }
    this.#unsettledSince ??= this.#now();
    const isLate = this.#now() - this.#unsettledSince >= MAX_UNSETTLED_MS;
    if (!atOnce && !isSettled && !isLate && !hasAppeared(baseline, now)) return false;
    this.#unsettledSince = null;
    this.#deps.log.info('the model folders changed and are scanned');
    await this.#deps.scan();
    this.#scanned = { watched: this.#deps.watched(), states: now };
    return true;
  }

  async #read(watched: ReadonlyMap<string, WatchedPaths>): Promise<States> {
    const states = new Map<string, string>();
    for (const [folder, all] of watched) {
      for (const paths of chunks([...all.keys()], PATHS_AT_ONCE)) {
        const read = async () => {
          for (const path of paths) states.set(path, await pathState(path));
        };
        await this.#deps.mountGuard.run(folder, read).catch(() => {
          for (const path of paths) if (!states.has(path)) states.set(path, UNKNOWN_STATE);
        });
      }
    }
    return states;
  }
}

const chunks = (paths: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(paths.length / size) }, (_, index) =>
    paths.slice(index * size, (index + 1) * size),
  );

const hasAppeared = (baseline: States, now: States): boolean =>
  [...now].some(([path, state]) => isOtherFolder(baseline.get(path) ?? state, state));
