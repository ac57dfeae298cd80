import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { startTicksOf } from '../lib/process/process-identity.ts';
import { scratchOfFile } from '../lib/testing/scratch.ts';
import { DEMO_REPLY } from '../models/demo-model.ts';
import type { SlotModel } from './engines/engine.ts';
import type { Slots } from './slots.ts';
import { demoModel } from './testing/demo-model.ts';
import { refusalOf } from './testing/refusal-of.ts';
import { SlotsBench } from './testing/slots-bench.ts';

const options = { signal: new AbortController().signal, stream: false };
const exited = (pid: number) => vi.waitFor(() => expect(startTicksOf(pid)).toBeNull(), 10_000);
const proc = (pid: number, name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1');

const folder = scratchOfFile();
let model: SlotModel;
let bench: SlotsBench;
let slots: Slots;

beforeAll(async () => {
  model = await demoModel(folder);
});
beforeEach(() => {
  bench = new SlotsBench();
  bench.model = model;
  bench.environment = {
    PATH: process.env.PATH ?? '',
    SVC_ADMIN_KEY: 'canary-admin',
    SVC_CLIENT_KEY: 'canary-client',
    HF_TOKEN: 'canary-hub',
  };
  vi.stubEnv('SVC_ADMIN_KEY', 'canary-inherited');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await bench.remove();
});

const pidOf = (name = 'agent') => slots.get(name)?.pid as number;

async function chatWithDemo(): Promise<string> {
  const lease = await slots.ensureReady('agent', options);
  try {
    const response = await fetch(`${lease.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...lease.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], temperature: 0 }),
    });
    const body = (await response.json()) as { choices: { message: { content: string } }[] };
    return body.choices[0]?.message.content ?? '';
  } finally {
    lease.release();
  }
}

describe('a real engine', () => {
  it('loads in the background, responds, and shows its device', async () => {
    slots = bench.open();
    expect(slots.get('agent')?.state).toBe('starting');
    expect(await chatWithDemo()).toBe(DEMO_REPLY);
    expect(slots.get('agent')).toMatchObject({
      state: 'ready',
      model: 'svc-demo',
      demo: true,
      context: 2_048,
      parallel: 2,
      threads: 1,
      degraded: null,
      requests: 1,
    });
    await vi.waitFor(() => expect(slots.get('agent')?.memory_bytes).toBeGreaterThan(20_000_000), 5_000);
    expect(readFileSync(join(bench.folders.state, 'logs', 'agent.log'), 'utf8')).toContain(
      'started svc-demo',
    );
  });

  it('has no secret of the gateway in its environment or argv, and runs in its own process group', async () => {
    slots = bench.open();
    await slots.load('agent');
    const pid = pidOf();
    const lease = await slots.ensureReady('agent', options);
    const key = lease.headers.authorization?.replace('Bearer ', '') ?? '';
    lease.release();
    expect(key).toHaveLength(43);
    const processText = `${proc(pid, 'environ')}\0${proc(pid, 'cmdline')}`;
    for (const secret of ['canary', 'SVC_', key]) expect(processText).not.toContain(secret);
    const names = proc(pid, 'environ')
      .split('\0')
      .map((entry) => entry.split('=')[0])
      .filter(Boolean);
    expect(names.sort()).toEqual([
      'DO_NOT_TRACK',
      'GATEWAY_WORKER',
      'HF_HUB_DISABLE_TELEMETRY',
      'MALLOC_MMAP_THRESHOLD_',
      'MALLOC_TRIM_THRESHOLD_',
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
      ...Object.keys(compileCacheEnv()),
      'PATH',
      'VLLM_NO_USAGE_STATS',
    ]);
    expect(Number(proc(pid, 'stat').split(') ')[1]?.split(' ')[2])).toBe(pid);
    expect(Number(proc(pid, 'oom_score_adj'))).toBe(600);
  });

  it('P03: kill -9 is an error of the slot with its reason, and the slot recovers automatically', async () => {
    slots = bench.open();
    await slots.load('agent');
    const pid = pidOf();
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(slots.get('agent')?.state).toBe('error'), 5_000);
    expect(slots.get('agent')?.failure).toMatchObject({ failures: 1, parked: false });
    expect(slots.get('agent')?.failure?.reason).toMatch(/SIGKILL/);
    const error = await refusalOf(slots.ensureReady('agent', options));
    expect([error.code, Number(error.headers()['retry-after']) <= 5]).toEqual(['slot.failed', true]);
    expect(await slots.load('agent')).toMatchObject({ state: 'ready', failure: null });
    expect(pidOf()).not.toBe(pid);
    expect(await chatWithDemo()).toBe(DEMO_REPLY);
  });

  it('unload ends the process and leaves no record; the next request loads again', async () => {
    slots = bench.open();
    await slots.load('agent');
    const pid = pidOf();
    const record = join(bench.folders.state, 'run', 'agent.json');
    expect(JSON.parse(readFileSync(record, 'utf8'))).toMatchObject({ slot: 'agent', pid });
    expect(await slots.unload('agent')).toMatchObject({ state: 'offline', pid: null, failure: null });
    expect([startTicksOf(pid), existsSync(record)]).toEqual([null, false]);
    expect(await chatWithDemo()).toBe(DEMO_REPLY);
  });

  it('a missing model file is an error with a reason without a path', async () => {
    bench.model = { ...model, path: join(folder, 'missing.gguf') };
    slots = bench.open();
    const error = await refusalOf(slots.load('agent'));
    expect(error.code).toBe('slot.failed');
    expect(error.options.details?.reason).toMatch(/missing\.gguf/);
    expect(JSON.stringify(error.envelope('api'))).not.toContain(folder);
    expect(slots.get('agent')?.pid).toBeNull();
  });

  it('a program that cannot be started is an error, not a crash', async () => {
    slots = bench.open({ nodePath: '/nonexistent/node' });
    const error = await refusalOf(slots.load('agent'));
    expect(error.options.details?.reason).toMatch(/could not be started \(ENOENT\)|failed to execute/);
  });

  it('P09: a stop during the start is not a failure', async () => {
    slots = bench.open();
    const pid = pidOf();
    expect(slots.get('agent')?.state).toBe('starting');
    expect(await slots.unload('agent')).toMatchObject({ state: 'offline', failure: null });
    await exited(pid);
  });
});

describe('P06: a gateway that is killed', () => {
  async function parent(): Promise<{ child: ReturnType<typeof spawn>; root: string; pid: number }> {
    const program = fileURLToPath(new URL('./testing/parent-program.ts', import.meta.url));
    const child = spawn(process.execPath, [program, model.path as string], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { child, ...(JSON.parse(line) as { root: string; pid: number }) };
  }

  it('ends its engine with it', async () => {
    const { child, root, pid } = await parent();
    expect(startTicksOf(pid)).not.toBeNull();
    child.kill('SIGKILL');
    await exited(pid);
    rmSync(root, { recursive: true, force: true });
  });

  it('leaves a hung engine, which the next start ends', async () => {
    const { child, root, pid } = await parent();
    process.kill(pid, 'SIGSTOP');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(startTicksOf(pid)).not.toBeNull();
    const next = new SlotsBench();
    next.open({
      settings: {
        folders: { config: next.folders.config, state: join(root, 'state') },
        value: (() => 1) as never,
        environment: () => undefined,
      },
    });
    await exited(pid);
    expect(next.logged.join()).toContain('ended an engine left by an earlier run');
    await next.remove();
    rmSync(root, { recursive: true, force: true });
  });
});
