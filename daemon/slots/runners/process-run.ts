import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LaunchBy } from '../engines/engine.ts';
import { EngineLog } from '../lifecycle/engine-log.ts';
import type { AskEngine } from '../lifecycle/health.ts';
import { forgetRun } from '../lifecycle/orphans.ts';
import { notStarted, remember, stopChild, watchEnd } from './child.ts';
import { fill, fillAll } from './interpolate.ts';
import { keyEnv, keyHeaders, loadedAt, newKey } from './key.ts';
import { portOwner } from './port-owner.ts';
import type { Ports } from './ports.ts';
import { forgetFile } from './remove-record.ts';
import type { Ended, Loaded, Running } from './runner.ts';
import { untilReady, WrongServer } from './until-ready.ts';
import { workerEnv } from './worker-env.ts';

export interface ProcessParts {
  readonly stateFolder: string;
  readonly logFolder: string;
  readonly runFolder: string;
  environment(name: string): string | undefined;
  readonly ask: AskEngine;
  readonly ports: Ports;
  /** The words that stand before the program. */
  readonly before: readonly string[];
}

export interface ProcessOrder {
  readonly launch: LaunchBy<'process'>;
  /** Absolute path of the program. */
  readonly program: string;
  /** The name of log and record. */
  readonly name: string;
  /** What must have ended before. */
  readonly after: Promise<unknown>;
}

/** Starts on another port after somebody else had taken the first ones. */
const MOST_STARTS = 3;
const HOST = '127.0.0.1';
/** An engine that is not the one we meant has this long to end. */
const UNFIT_GRACE_MS = 2_000;
const PORT_TAKEN = /EADDRINUSE|address (is )?already in use|could(n't| not) bind|failed to bind|bind failed/i;

const PORT_LOST = 'Another program has taken the port of the engine.';

class PortLost extends WrongServer {}

const notBegun = (reason: string): Ended => ({ code: null, signal: null, reason });

/** One engine that is a program of somebody else, from its start (on another port if need be) to its end. */
export class ProcessRun implements Running {
  readonly loaded: Promise<Loaded>;
  readonly ended: Promise<Ended>;
  readonly #parts: ProcessParts;
  readonly #order: ProcessOrder;
  readonly #key = newKey();
  readonly #ready = Promise.withResolvers<Loaded>();
  readonly #stop = new AbortController();
  #log: EngineLog;
  #child: { process: ChildProcess; ended: Promise<Ended> } | null = null;
  #lastWords: string | null = null;
  #portLost = false;
  #isLoaded = false;

  constructor(parts: ProcessParts, order: ProcessOrder) {
    this.#parts = parts;
    this.#order = order;
    this.#log = new EngineLog(parts.logFolder, order.name);
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

  stop(graceMs: number): Promise<Ended> {
    this.#stop.abort(new Error('stopped'));
    if (this.#child !== null) void stopChild(this.#child.process, this.#child.ended, graceMs);
    return this.ended;
  }

  async #live(): Promise<Ended> {
    await this.#order.after;
    let ended = notBegun('The engine was stopped before it had started.');
    for (let start = 1; start <= MOST_STARTS && !this.#stop.signal.aborted; start++) {
      ended = await this.#once();
      if (!this.#portLost) return ended;
    }
    return this.#portLost ? { ...ended, reason: PORT_LOST } : ended;
  }

  /** One start on one port, to its end. */
  async #once(): Promise<Ended> {
    const { ports } = this.#parts;
    let port = 0;
    try {
      port = await ports.take();
      if (this.#stop.signal.aborted) return notBegun('The engine was stopped before it had started.');
      return await this.#run(port);
    } catch (cause) {
      return notBegun(notStarted(cause));
    } finally {
      ports.give(port);
      forgetFile(this.#keyFile);
    }
  }

  async #run(port: number): Promise<Ended> {
    const { logFolder, runFolder } = this.#parts;
    const { name } = this.#order;
    this.#log = new EngineLog(logFolder, name);
    this.#lastWords = null;
    this.#portLost = false;
    const nonce = randomBytes(18).toString('base64url');
    const child = this.#spawn(port, nonce);
    const over = new AbortController();
    const ended = watchEnd(child, {
      log: this.#log,
      lastWords: () => this.#reason(),
      done: () => this.#forget(),
    });
    this.#child = { process: child, ended };
    if (child.pid !== undefined) {
      remember(runFolder, name, child.pid, nonce);
      this.#log.note(`started ${this.#order.launch.modelId} (pid ${child.pid}, port ${port})`);
      void this.#follow(port, AbortSignal.any([over.signal, this.#stop.signal]));
    }
    const end = await ended;
    over.abort(new Error('ended'));
    return end;
  }

  /** The reason of an end that is known better than by its exit; decides whether the port was lost. */
  #reason(): string | null {
    this.#portLost ||= !this.#isLoaded && this.#log.lines(50).some((line) => PORT_TAKEN.test(line));
    return this.#portLost ? PORT_LOST : this.#lastWords;
  }

  /** While its log is open still, so that it can tell of a disk that keeps what is to go. */
  #forget(): void {
    const tell = (line: string) => this.#log.note(line);
    forgetRun(this.#parts.runFolder, this.#order.name, tell);
    forgetFile(this.#keyFile, tell);
  }

  get #keyFile(): string {
    return join(this.#parts.runFolder, `${this.#order.name}.key`);
  }

  #spawn(port: number, nonce: string): ChildProcess {
    const { environment, stateFolder, runFolder, before } = this.#parts;
    const { launch, program } = this.#order;
    const { args, env, key } = launch.how;
    if (key.by === 'file') {
      mkdirSync(runFolder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#keyFile, this.#key, { mode: 0o600 });
    }
    const model = launch.modelPath ?? '';
    const values = { host: HOST, port: String(port), model, key_file: this.#keyFile };
    const own = { ...fillAll(env, values), ...launch.env, ...keyEnv(key, this.#key) };
    const [file, ...words] = [...before, program, ...args.map((arg) => fill(arg, values))] as [string];
    return spawn(file, words, {
      cwd: stateFolder,
      env: workerEnv(environment, own, nonce),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  }

  async #follow(port: number, signal: AbortSignal): Promise<void> {
    const { launch } = this.#order;
    const { process: child, ended } = this.#child as { process: ChildProcess; ended: Promise<Ended> };
    const { probe, key } = launch.how;
    const endpoint = { origin: `http://${HOST}:${port}`, headers: keyHeaders(key, this.#key) };
    const open = () => mayAsk(port, child.pid as number);
    try {
      await untilReady({ ask: this.#parts.ask, endpoint, probe, signal, open });
      const unfit = launch.how.unfit.find(({ says }) => this.lines().some((line) => line.includes(says)));
      if (unfit !== undefined) throw new WrongServer(unfit.reason);
      this.#isLoaded = true;
      this.#ready.resolve(loadedAt(launch, endpoint));
    } catch (cause) {
      if (signal.aborted) return;
      this.#portLost = cause instanceof PortLost;
      this.#lastWords = cause instanceof WrongServer ? cause.message : 'The start broke off.';
      await stopChild(child, ended, UNFIT_GRACE_MS);
    }
  }
}

/** Nobody is asked (and told the key) but the process that was started, whoever else may listen on the port. */
function mayAsk(port: number, pid: number): boolean {
  const owner = portOwner(port, pid);
  if (owner === 'stranger') throw new PortLost(PORT_LOST);
  if (owner === 'unknown') throw new WrongServer('This host does not tell who listens on a port.');
  return owner === 'ours';
}
