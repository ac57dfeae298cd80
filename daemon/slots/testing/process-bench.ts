import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Outbound } from '../../lib/net/outbound.ts';
import type { Launch } from '../engines/engine.ts';
import type { ProcessRunSpec } from '../engines/run-spec.ts';
import { createEngineQuery, type QueryEngine } from '../lifecycle/health.ts';
import { createProcessRunner, type ProcessRunnerDeps } from '../runners/process.ts';
import type { RunningEngine } from '../runners/runner.ts';
import { processLaunch, writeOtherProgram } from './other-program.ts';

/** Folders and a process runner. `remove` ends everything that was started. */
export class ProcessBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'process-'));
  readonly program = writeOtherProgram(this.folder);
  readonly outbound = new Outbound({ connectMs: () => 1_000 });
  readonly query: QueryEngine = createEngineQuery(this.outbound);
  readonly started: RunningEngine[] = [];
  readonly path: string;
  #runner: ReturnType<typeof createProcessRunner> | null = null;

  /** `path` is the PATH in which programs are searched. */
  constructor(path: string) {
    this.path = path;
  }

  runner(over: Partial<ProcessRunnerDeps> = {}) {
    return createProcessRunner({
      stateFolder: this.folder,
      logFolder: join(this.folder, 'logs'),
      runFolder: join(this.folder, 'run'),
      environment: (name) => (name === 'PATH' ? this.path : `canary-${name}`),
      query: this.query,
      ...over,
    });
  }

  /** Starts the small external engine with these arguments. */
  start(
    args: string[] = [],
    how: Partial<ProcessRunSpec> = {},
    over: Partial<Launch> = {},
    runner = this.#default(),
  ): RunningEngine {
    const all = [this.program, '--host', '{host}', '--port', '{port}', ...args];
    const running = runner.start(processLaunch({ args: all, ...how }, over));
    this.started.push(running);
    return running;
  }

  /** Starts a program with this source; `{port}` is its first argument. */
  run(text: string, how: Partial<ProcessRunSpec> = {}): RunningEngine {
    return this.start([], { args: [writeOtherProgram(this.folder, text), '{port}'], ...how });
  }

  async remove(): Promise<void> {
    await Promise.all(this.started.map((running) => running.stop(0)));
    await this.outbound.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Returns one runner for all starts of a test, so that they share its state. */
  #default() {
    this.#runner ??= this.runner();
    return this.#runner;
  }
}
