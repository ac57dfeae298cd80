import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import type { Launch } from '../engines/engine.ts';
import { signalGroup } from '../lifecycle/orphans.ts';
import { workerLaunch } from '../testing/launches.ts';
import { parentDeathPrefix } from './program.ts';
import type { RunningEngine } from './runner.ts';
import { createWorkerRunner, type WorkerRunnerDeps } from './worker.ts';

let folder: string;
let running: RunningEngine | null = null;
beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  await running?.stop(0);
  running = null;
});

/** Starts a small program in place of the engine. */
function start(
  program: string,
  over: Partial<Launch> = {},
  more: Partial<WorkerRunnerDeps> = {},
): RunningEngine {
  const workerPath = join(folder, 'with space;$(x).mjs');
  writeFileSync(workerPath, program);
  const runner = createWorkerRunner({
    nodePath: process.execPath,
    programs: { llama: workerPath, speech: workerPath },
    stateFolder: folder,
    logFolder: join(folder, 'logs'),
    runFolder: join(folder, 'run'),
    environment: (name) => (name === 'PATH' ? process.env.PATH : `canary-${name}`),
    ...more,
  });
  running = runner.start(workerLaunch(over));
  return running;
}
/** Longer than any start takes on a busy machine. */
const LIMIT_MS = 50_000;
/** For 15 million lines. */
const FLOOD_LIMIT_MS = 2 * LIMIT_MS;
const expectOutput = (run: RunningEngine, text: string, limitMs = LIMIT_MS) =>
  vi.waitFor(() => expect(run.lines().join('\n')).toContain(text), limitMs);

const FACTS = '{ device: "cpu", context: 512, parallel: 1, threads: 1 }';

describe('the worker runner', () => {
  it('sends the settings over IPC only and returns the address of the engine', async () => {
    const run = start(`process.on('message', (order) => {
      console.log(JSON.stringify([order.type, order.config.modelId, order.config.threads, process.argv.slice(2)]));
      process.send({ type: 'listening', port: 4321 });
      process.send({ type: 'progress', fraction: 0.5 });
      process.send({ type: 'ready', info: ${FACTS} });
    });`);
    const loaded = await run.loaded;
    expect(loaded).toMatchObject({ origin: 'http://127.0.0.1:4321', device: 'cpu', context: 512 });
    expect(loaded.headers.authorization).toMatch(/^Bearer [\w-]{43}$/);
    expect(run.progress()).toBe(0.5);
    await expectOutput(run, '["start","tiny",1,["slot=agent"]]');
  });

  it('returns the reason that the engine reports before it ends', async () => {
    const reason = 'cannot read /secret/place/tiny.gguf: not a GGUF file';
    const run = start(
      `process.send({ type: 'failed', reason: ${JSON.stringify(reason)} }, () => process.exit(70));`,
    );
    expect(await run.ended).toEqual({
      code: 70,
      signal: null,
      reason: 'cannot read tiny.gguf: not a GGUF file',
    });
  });

  it('uses the decisive last line of the output when the engine reports no reason', async () => {
    const run = start(
      `console.error('ggml: fatal error: out of tensors'); console.error('bye'); process.abort();`,
    );
    expect((await run.ended).reason).toMatch(/^The engine aborted \(SIGABRT\): .*(fatal error|abort)/i);
  });

  it('P04: one that ignores SIGTERM is killed after its grace, its children too', async () => {
    const run = start(`import { spawn } from 'node:child_process';
      process.on('SIGTERM', () => {});
      process.on('message', () => process.send({ type: 'ready', info: ${FACTS} }));
      const child = spawn('sleep', ['60'], { stdio: 'inherit' });
      child.on('spawn', () => console.log('child ' + child.pid + '.'));
      setInterval(() => {}, 1000);`);
    await expectOutput(run, '.');
    await vi.waitFor(() => expect(run.lines().join()).toMatch(/child \d+\./), LIMIT_MS);
    await run.loaded;
    const child = Number(/child (\d+)\./.exec(run.lines().join())?.[1]);
    expect(startTicksOf(child)).not.toBeNull();
    expect((await run.stop(50)).signal).toBe('SIGKILL');
    expect(startTicksOf(run.pid as number)).toBeNull();
    await vi.waitFor(() => expect(startTicksOf(child)).toBeNull(), LIMIT_MS);
  });

  describe('one that saves its conversations when it ends', () => {
    const interrupted: string[][] = [];
    const kvCache = {
      configFor: () => null,
      restored: () => {},
      interrupted: (...names: string[]) => void interrupted.push(names),
    };
    beforeEach(() => interrupted.splice(0));
    /** Saves for `ms` after SIGTERM. */
    const saving = (ms: number) => `
      process.on('message', () => process.send({ type: 'ready', info: ${FACTS} }));
      process.on('SIGTERM', () => process.send({ type: 'saving' }, () => console.log('saving.')));
      process.on('SIGTERM', () => setTimeout(() => process.send({ type: 'saved' }, () => process.exit(0)), ${ms}));`;

    it('may take longer than its grace', async () => {
      const run = start(saving(7_000), {}, { kvCache });
      await run.loaded;
      expect(await run.stop(5_000)).toMatchObject({ code: 0, signal: null });
      expect(interrupted).toEqual([]);
    });

    it('is killed after the limit of a save, which is reported', async () => {
      const run = start(saving(2 * LIMIT_MS), {}, { kvCache, saveLimitMs: 500 });
      await run.loaded;
      expect((await run.stop(5_000)).signal).toBe('SIGKILL');
      expect(interrupted).toEqual([['agent', 'tiny']]);
      const log = () => readFileSync(join(folder, 'logs', 'agent.log'), 'utf8');
      await vi.waitFor(() => expect(log()).toContain('ended before its conversations were saved'), LIMIT_MS);
    });

    it('is killed at once without a grace', async () => {
      const run = start(saving(2 * LIMIT_MS), {}, { kvCache });
      await run.loaded;
      expect((await run.stop(0)).signal).toBe('SIGKILL');
      expect(interrupted).toEqual([]);
    });
  });

  it('one that is still loading is killed immediately, without its grace period', async () => {
    const run = start(`process.on('SIGTERM', () => {}); console.log('loading.'); for (;;);`);
    await expectOutput(run, 'loading.');
    const since = performance.now();
    expect((await run.stop(60_000)).signal).toBe('SIGKILL');
    expect(performance.now() - since).toBeLessThan(10_000);
  });

  it('P11: one that floods its output with lines, binary and one endless line stays bounded', {
    timeout: FLOOD_LIMIT_MS,
  }, async () => {
    const run = start(`const flood = Buffer.alloc(1 << 20, 'x\\n');
      const noise = Buffer.alloc(1 << 20, 255);
      const pour = (left) => left === 0
        ? process.stdout.write('\\nthe end\\n')
        : process.stdout.write(left % 2 ? flood : noise, () => pour(left - 1));
      pour(60);
      setInterval(() => {}, 1000);`);
    await expectOutput(run, 'the end', FLOOD_LIMIT_MS);
    expect(run.lines().length).toBeLessThanOrEqual(400);
    expect(Math.max(...run.lines().map((line) => line.length))).toBeLessThanOrEqual(2_000);
    await run.stop(0);
    expect(statSync(join(folder, 'logs', 'agent.log')).size).toBeLessThan(6 << 20);
  });

  it('passes the listed variables and the own ones of the slot, nothing else', async () => {
    const run = start('console.log(JSON.stringify(process.env)); setInterval(() => {}, 1000);', {
      env: { GGML_OWN: '; rm -rf $(HOME)' },
    });
    await expectOutput(run, '}');
    const line = run.lines().find((entry) => entry.startsWith('{')) ?? '{}';
    const env = JSON.parse(line) as Record<string, string>;
    expect(env.GGML_OWN).toBe('; rm -rf $(HOME)');
    expect(env.HOME).toBe('canary-HOME');
    expect(Object.keys(env).filter((name) => /SVC|TOKEN|KEY|NODE_OPTIONS/.test(name))).toEqual([]);
  });

  it.skipIf(parentDeathPrefix(process.env.PATH ?? '').length === 0)(
    'an engine that no longer handles messages ends with the gateway',
    async () => {
      const workerPath = join(folder, 'deaf.mjs');
      writeFileSync(workerPath, "console.log('deaf.'); for (;;);");
      const options = { nodePath: process.execPath, programs: { llama: workerPath, speech: workerPath } };
      const folders = {
        stateFolder: folder,
        logFolder: join(folder, 'logs'),
        runFolder: join(folder, 'run'),
      };
      const gateway = spawn(
        process.execPath,
        [
          ...['--input-type=module', '-e'],
          `import { createWorkerRunner } from ${JSON.stringify(new URL('./worker.ts', import.meta.url))};
          const [options, launch] = JSON.parse(process.argv[1]);
          const run = createWorkerRunner({ ...options, environment: (name) => process.env[name] }).start(launch);
          setInterval(() => { if (run.lines().includes('deaf.')) console.log(run.pid); }, 50);`,
          JSON.stringify([{ ...options, ...folders }, workerLaunch()]),
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const [line] = (await once(createInterface(gateway.stdout), 'line')) as [string];
      const pid = Number(line);
      try {
        expect(startTicksOf(pid)).not.toBeNull();
        gateway.kill('SIGKILL');
        await vi.waitFor(() => expect(startTicksOf(pid)).toBeNull(), LIMIT_MS);
      } finally {
        gateway.kill('SIGKILL');
        signalGroup(pid, 'SIGKILL');
      }
    },
  );

  it('leaves no run record, and the log contains how it ended', async () => {
    const run = start('process.exit(3)');
    expect(await run.ended).toMatchObject({ code: 3, reason: 'The engine ended with code 3.' });
    expect(() => statSync(join(folder, 'run', 'agent.json'))).toThrow('ENOENT');
    const log = () => readFileSync(join(folder, 'logs', 'agent.log'), 'utf8');
    await vi.waitFor(() => expect(log()).toContain('The engine ended with code 3.'), LIMIT_MS);
  });
});
