import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTicksOf } from '../lib/process/process-identity.ts';
import { scratchOfFile } from '../lib/testing/scratch.ts';
import { DEMO_REPLY } from '../models/demo-model.ts';
import type { SlotModel } from './engines/engine.ts';
import { HUNG_REASON } from './lifecycle/watch.ts';
import type { Slots } from './slots.ts';
import { demoModel } from './testing/demo-model.ts';
import { SlotsBench } from './testing/slots-bench.ts';

const options = { signal: new AbortController().signal, stream: false };
/** Short, but far above the response time of a busy machine. */
const watchPace = { intervalMs: 100, timeoutMs: 1_500, maxMisses: 3 };
const PRLIMIT = '/usr/bin/prlimit';

const folder = scratchOfFile();
let model: SlotModel;
let bench: SlotsBench;
let slots: Slots;

beforeAll(async () => {
  model = await demoModel(folder);
});
beforeEach(async () => {
  bench = new SlotsBench();
  bench.model = model;
  bench.environment = { PATH: process.env.PATH ?? '' };
  slots = bench.open({ watchPace });
  await slots.load('agent');
}, 30_000);
afterEach(() => bench.remove());

const pidOf = () => slots.get('agent')?.pid as number;
const failed = async () => {
  await vi.waitFor(() => expect(slots.get('agent')?.state).toBe('error'), 20_000);
  return slots.get('agent')?.failure?.reason;
};

async function chat(body: object): Promise<Response> {
  const lease = await slots.ensureReady('agent', options);
  try {
    return await fetch(`${lease.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...lease.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  } finally {
    lease.release();
  }
}

/** Checks that the engine responds correctly. */
async function expectReply(): Promise<void> {
  const response = await chat({ messages: [{ role: 'user', content: 'Hi' }], temperature: 0 });
  const answer = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(answer.choices[0]?.message.content).toBe(DEMO_REPLY);
}

/** Checks that the next load works like the first: another process that responds. */
async function expectReload(before: number): Promise<void> {
  await vi.waitFor(() => expect(startTicksOf(before)).toBeNull(), 5_000);
  expect(await slots.load('agent')).toMatchObject({ state: 'ready', failure: null });
  expect(pidOf()).not.toBe(before);
  await expectReply();
}

describe('a real engine that breaks', () => {
  it('hangs: it is detected, killed and started again', async () => {
    const pid = pidOf();
    process.kill(pid, 'SIGSTOP');
    expect(await failed()).toBe(HUNG_REASON);
    await expectReload(pid);
  }, 60_000);

  it('hangs during a response: its caller is cut off', async () => {
    const pid = pidOf();
    const control = new AbortController();
    const lease = await slots.ensureReady('agent', options);
    process.kill(pid, 'SIGSTOP');
    const pending = fetch(`${lease.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...lease.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }),
      signal: control.signal,
    });
    await expect(pending).rejects.toThrow();
    expect(await failed()).toBe(HUNG_REASON);
    lease.release();
    await expectReload(pid);
  }, 60_000);

  it.each([
    ['SIGABRT', 'The engine aborted (SIGABRT)'],
    ['SIGSEGV', 'The engine crashed (SIGSEGV)'],
    ['SIGKILL', 'The engine was killed (SIGKILL), perhaps for lack of memory'],
  ] as const)(
    'ends by %s, as native code or the kernel may cause',
    async (signal, reason) => {
      const pid = pidOf();
      process.kill(pid, signal);
      expect(await failed()).toContain(reason);
      await expectReload(pid);
    },
    60_000,
  );

  it.skipIf(!existsSync(PRLIMIT))(
    'runs out of memory while it works',
    async () => {
      const pid = pidOf();
      await promisify(execFile)(PRLIMIT, ['--pid', String(pid), '--data=50000000:']);
      const many = Array.from({ length: 20_000 }, (_, i) => ({
        role: 'user',
        content: `message ${i} ${'x'.repeat(200)}`,
      }));
      const response = await chat({ messages: many }).then(
        (response) => response.text(),
        () => null,
      );
      if (response === null) {
        expect(await failed()).toMatch(/^The engine (ran out of memory|aborted|crashed)/);
        return expectReload(pid);
      }
      // An engine that reported the failure works again once it may allocate memory.
      expect(JSON.parse(response)).toMatchObject({ error: { code: 'engine.failed', type: 'server_error' } });
      expect(response).toMatch(/memory|alloc/i);
      await promisify(execFile)(PRLIMIT, ['--pid', String(pid), '--data=unlimited:']);
      await expectReply();
      expect(pidOf()).toBe(pid);
    },
    60_000,
  );
});
