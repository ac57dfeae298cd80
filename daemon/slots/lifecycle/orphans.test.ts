import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { endOrphans, removeRunRecord, writeRunRecord } from './orphans.ts';

const NONCE = 'orphan-nonce-0123456789';
let folder: string;
let child: ChildProcess;
const left: number[] = [];
beforeEach(async () => {
  folder = join(scratch(), 'run');
  child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { GATEWAY_WORKER: NONCE } });
  await once(child, 'spawn');
});
afterEach(() => {
  child.kill('SIGKILL');
  for (const pid of left.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

const record = (over = {}) => ({
  slot: 'agent',
  pid: child.pid as number,
  startTicks: startTicksOf(child.pid as number) as number,
  nonce: NONCE,
  ...over,
});

it('P06: ends the engine of a killed gateway and removes its record', async () => {
  writeRunRecord(folder, record());
  const exit = once(child, 'exit');
  expect(endOrphans(folder)).toEqual(['agent']);
  expect((await exit)[1]).toBe('SIGKILL');
  expect(readdirSync(folder)).toEqual([]);
});

/** The program ends together with its gateway; its child processes continue. */
async function orphanedGroup(): Promise<{ pid: number; startTicks: number }> {
  const leader = spawn('sh', ['-c', 'sleep 61 & echo $!; exec sleep 60'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, GATEWAY_WORKER: NONCE },
  });
  const startTicks = startTicksOf(leader.pid as number) as number;
  const [line] = await once(leader.stdout as NodeJS.ReadableStream, 'data');
  left.push(Number(String(line)));
  leader.kill('SIGKILL');
  await once(leader, 'exit');
  return { pid: leader.pid as number, startTicks };
}

const expectEnded = (pid: number) => expect.poll(() => startTicksOf(pid)).toBeNull();

it('P06: ends the child processes of an engine that has ended itself', async () => {
  const one = await orphanedGroup();
  const [child] = left as [number];
  writeRunRecord(folder, record(one));
  expect(endOrphans(folder)).toEqual(['agent']);
  await expectEnded(child);
});

it.each([
  ['nonce', { nonce: 'another-nonce-0123456789' }],
  ['session', { pid: 2 ** 22 - 1 }],
  ['time', { startTicks: Number.MAX_SAFE_INTEGER }],
])('P06: the child processes of another engine are untouched: other %s', async (_, over) => {
  const one = await orphanedGroup();
  const [child] = left as [number];
  writeRunRecord(folder, record({ ...one, ...over }));
  expect(endOrphans(folder)).toEqual([]);
  expect(startTicksOf(child)).not.toBeNull();
});

it.each([
  ['start time', { startTicks: 1 }],
  ['nonce', { nonce: 'another-nonce-0123456789' }],
])('P06: a foreign process with the same number is untouched: other %s', (_, over) => {
  writeRunRecord(folder, record(over));
  expect(endOrphans(folder)).toEqual([]);
  expect(startTicksOf(child.pid as number)).not.toBeNull();
  expect(readdirSync(folder)).toEqual([]);
});

it('ignores broken records and a missing folder', () => {
  expect(endOrphans(folder)).toEqual([]);
  writeRunRecord(folder, record({ slot: 'one' }));
  writeFileSync(join(folder, 'two.json'), '{"pid":');
  writeFileSync(join(folder, 'three.json'), '{"slot":"x","pid":1,"startTicks":0,"nonce":"0123456789abcdef"}');
  expect(endOrphans(folder, { isSame: () => true, kill: (pid) => pid === child.pid })).toEqual(['one']);
});

it('a normal end leaves no record', () => {
  writeRunRecord(folder, record());
  removeRunRecord(folder, 'agent');
  removeRunRecord(folder, 'agent');
  expect(existsSync(join(folder, 'agent.json'))).toBe(false);
});

it('a record that cannot be removed is logged without a path and stops nothing', () => {
  const logged: string[] = [];
  symlinkSync(folder, folder);
  removeRunRecord(folder, 'agent', (line) => logged.push(line));
  expect(logged).toEqual(['the run record of the engine could not be removed (ELOOP)']);
  expect(() => removeRunRecord(folder, 'agent')).not.toThrow();
});
