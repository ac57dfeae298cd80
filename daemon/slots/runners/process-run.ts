import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LaunchFor } from '../engines/engine.ts';
import { EngineLog } from '../lifecycle/engine-log.ts';
import type { QueryEngine } from '../lifecycle/health.ts';
import { removeRunRecord } from '../lifecycle/orphans.ts';
import { notStarted, registerChild, stopChild, watchExit } from './child.ts';
import { interpolate, interpolateAll } from './interpolate.ts';
import { keyEnv, keyHeaders, loadedAt, newKey } from './key.ts';
import { portOwner } from './port-owner.ts';
import type { Ports } from './ports.ts';
import { removeRecordFile } from './remove-record.ts';
import type { Endpoint, EngineExit, LoadedEngine, RunningEngine } from './runner.ts';
import { SavedSequences, type SavedSequencesDeps } from './saved-sequences.ts';
import { WrongServerError, waitUntilReady } from './until-ready.ts';
import { workerEnv } from './worker-env.ts';

export interface ProcessRunDeps {
  readonly stateFolder: string;
  readonly logFolder: string;
  readonly runFolder: string;
  environment(name: string): string | undefined;
  readonly query: QueryEngine;
  readonly ports: Ports;
  /** The command line prefix before the program. */
  readonly prefix: readonly string[];
  /** The saved states of conversations; absent for none. */
  readonly kvCache?: SavedSequencesDeps['kvCache'] | undefined;
}

export interface ProcessStart {
  readonly launch: LaunchFor<'process'>;
  /** Absolute path of the program. */
  readonly program: string;
  /** The name of the log and of the run record. */
  readonly name: string;
  /** Must settle before the start. */
  readonly previousExit: Promise<unknown>;
}

/** Maximum time for restoring conversations, in milliseconds. */
const PREPARE_MS = 30_000;
/** Share of the time until the engine is killed that saving may take. */
const SAVE_SHARE = 0.8;
/** Maximum number of starts, each on another port, while other programs take the ports. */
const MAX_STARTS = 3;
const HOST = '127.0.0.1';
/** Time for an unusable engine to end before it is killed. */
const UNFIT_GRACE_MS = 2_000;
const PORT_TAKEN_PATTERN =
  /EADDRINUSE|address (is )?already in use|could(n't| not) bind|failed to bind|bind failed/i;

const PORT_TAKEN_REASON = 'Another program uses the port of the engine.';

class PortTakenError extends WrongServerError {}

const failedToStart = (reason: string): EngineExit => ({ code: null, signal: null, reason });

/** One engine that is an external program, from its start (on another port if needed) to its end. */
export class ProcessRun implements RunningEngine {
  readonly loaded: Promise<LoadedEngine>;
  readonly ended: Promise<EngineExit>;
  readonly #deps: ProcessRunDeps;
  readonly #start: ProcessStart;
  readonly #key = newKey();
  readonly #ready = Promise.withResolvers<LoadedEngine>();
  readonly #stop = new AbortController();
  #log: EngineLog;
  #child: { process: ChildProcess; ended: Promise<EngineExit> } | null = null;
  #knownReason: string | null = null;
  #isPortTaken = false;
  #isLoaded = false;
  /** Where a loaded engine responds. */
  #endpoint: Endpoint | null = null;
  #saved: SavedSequences | null = null;
  #isStopping = false;

  constructor(deps: ProcessRunDeps, start: ProcessStart) {
    this.#deps = deps;
    this.#start = start;
    this.#log = new EngineLog(deps.logFolder, start.name);
    this.loaded = this.#ready.promise;
    this.ended = this.#live();
  }

  get pid(): number | null {
    return this.#child?.process.pid ?? null;
  }

  progress(): number | null {
    return null;
  }

  lines(): readonly string[] {
    return this.#log.lines();
  }

  linesSince(time: number): readonly string[] {
    return this.#log.linesSince(time);
  }

  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#endpoint === null) return;
    const limit = AbortSignal.any([signal, this.#stop.signal, AbortSignal.timeout(PREPARE_MS)]);
    await this.#saved?.restore(this.#endpoint, limit);
  }

  stop(graceMs: number): Promise<EngineExit> {
    this.#stop.abort(new Error('stopped'));
    const child = this.#child;
    if (child === null) return this.ended;
    const endAt = performance.now() + graceMs;
    const saving = this.#isStopping ? null : this.#save(graceMs);
    this.#isStopping = true;
    if (saving === null) void stopChild(child.process, child.ended, graceMs);
    else
      void Promise.race([saving, child.ended.then(() => true)]).then((endsItself) =>
        stopChild(child.process, child.ended, endsItself ? Math.max(1, endAt - performance.now()) : 0),
      );
    return this.ended;
  }

  /**
   * Saves the conversations of a loaded engine in the first part of the time until it is killed. Resolves with whether
   * it ends on SIGTERM afterwards.
   */
  #save(graceMs: number): Promise<boolean> | null {
    if (this.#saved === null || this.#endpoint === null || graceMs <= 0) return null;
    return this.#saved.save(this.#endpoint, graceMs * SAVE_SHARE);
  }

  async #live(): Promise<EngineExit> {
    await this.#start.previousExit;
    let ended = failedToStart('The engine was stopped before it had started.');
    for (let start = 1; start <= MAX_STARTS && !this.#stop.signal.aborted; start++) {
      ended = await this.#startOnce();
      if (!this.#isPortTaken) return ended;
    }
    return this.#isPortTaken ? { ...ended, reason: PORT_TAKEN_REASON } : ended;
  }

  /** Runs one start on one port to its end. */
  async #startOnce(): Promise<EngineExit> {
    const { ports } = this.#deps;
    let port = 0;
    try {
      port = await ports.acquire();
      if (this.#stop.signal.aborted) return failedToStart('The engine was stopped before it had started.');
      return await this.#run(port);
    } catch (cause) {
      return failedToStart(notStarted(cause));
    } finally {
      ports.release(port);
      removeRecordFile(this.#keyFile);
    }
  }

  async #run(port: number): Promise<EngineExit> {
    const { logFolder, runFolder } = this.#deps;
    const { name } = this.#start;
    this.#log = new EngineLog(logFolder, name);
    this.#knownReason = null;
    this.#isPortTaken = false;
    const nonce = randomBytes(18).toString('base64url');
    this.#saved = await this.#openSaved();
    if (this.#stop.signal.aborted) return failedToStart('The engine was stopped before it had started.');
    const child = this.#spawn(port, nonce);
    const over = new AbortController();
    const ended = watchExit(child, {
      log: this.#log,
      knownReason: () => this.#reason(),
      onExit: () => this.#removeRecords(),
    });
    this.#child = { process: child, ended };
    if (child.pid !== undefined) {
      registerChild(runFolder, name, child.pid, nonce);
      this.#log.note(`started ${this.#start.launch.modelId} (pid ${child.pid}, port ${port})`);
      void this.#follow(port, AbortSignal.any([over.signal, this.#stop.signal]));
    }
    const end = await ended;
    over.abort(new Error('ended'));
    return end;
  }

  async #openSaved(): Promise<SavedSequences | null> {
    const { kvCache, query } = this.#deps;
    const { launch, program } = this.#start;
    if (kvCache === undefined) return null;
    const note = (line: string) => this.#log.note(line);
    return SavedSequences.open({ launch, program, query, kvCache, note, signal: this.#stop.signal });
  }

  /** Returns a better reason for the end than the exit status. Also detects whether the port was taken. */
  #reason(): string | null {
    this.#isPortTaken ||=
      !this.#isLoaded && this.#log.lines(50).some((line) => PORT_TAKEN_PATTERN.test(line));
    return this.#isPortTaken ? PORT_TAKEN_REASON : this.#knownReason;
  }

  /** Removes the records while the log is still open, so that a failed removal can be logged. */
  #removeRecords(): void {
    const log = (line: string) => this.#log.note(line);
    removeRunRecord(this.#deps.runFolder, this.#start.name, log);
    removeRecordFile(this.#keyFile, log);
  }

  get #keyFile(): string {
    return join(this.#deps.runFolder, `${this.#start.name}.key`);
  }

  #spawn(port: number, nonce: string): ChildProcess {
    const { environment, stateFolder, runFolder, prefix } = this.#deps;
    const { launch, program } = this.#start;
    const { args, env, key } = launch.how;
    if (key.by === 'file') {
      mkdirSync(runFolder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#keyFile, this.#key, { mode: 0o600 });
    }
    const model = launch.modelPath ?? '';
    const values = { host: HOST, port: String(port), model, key_file: this.#keyFile };
    const own = { ...interpolateAll(env, values), ...launch.env, ...keyEnv(key, this.#key) };
    const all = [...args.map((arg) => interpolate(arg, values)), ...(this.#saved?.args ?? [])];
    const [file, ...words] = [...prefix, program, ...all] as [string];
    return spawn(file, words, {
      cwd: stateFolder,
      env: workerEnv(environment, own, nonce),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  }

  async #follow(port: number, signal: AbortSignal): Promise<void> {
    const { launch } = this.#start;
    const { process: child, ended } = this.#child as { process: ChildProcess; ended: Promise<EngineExit> };
    const { probe, key } = launch.how;
    const endpoint = { origin: `http://${HOST}:${port}`, headers: keyHeaders(key, this.#key) };
    const canProbe = () => isOwnListener(port, child.pid as number);
    try {
      await waitUntilReady({ query: this.#deps.query, endpoint, probe, signal, canProbe });
      const unfit = launch.how.unfit.find(({ text }) => this.lines().some((line) => line.includes(text)));
      if (unfit !== undefined) throw new WrongServerError(unfit.reason);
      this.#isLoaded = true;
      this.#endpoint = endpoint;
      this.#ready.resolve(loadedAt(launch, endpoint));
    } catch (cause) {
      if (signal.aborted) return;
      this.#isPortTaken = cause instanceof PortTakenError;
      this.#knownReason = cause instanceof WrongServerError ? cause.message : 'The start broke off.';
      await stopChild(child, ended, UNFIT_GRACE_MS);
    }
  }
}

/**
 * Returns whether the started process listens on the port. Only it may get requests and the key, whatever else
 * listens there.
 */
function isOwnListener(port: number, pid: number): boolean {
  const owner = portOwner(port, pid);
  if (owner === 'foreign') throw new PortTakenError(PORT_TAKEN_REASON);
  if (owner === 'unknown')
    throw new WrongServerError('This host does not report which process listens on a port.');
  return owner === 'own';
}
