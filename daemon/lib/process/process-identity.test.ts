import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { isSameProcess, orphanedGroups, parseStat, startTicksOf } from './process-identity.ts';

const NONCE = 'n0nce-n0nce-n0nce-n0nce';
const stat = (name: string, state: string, ticks: number) =>
  `42 (${name}) ${state} 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 11 0 ${ticks} 900 100 184`;

let proc: string;
const writeStat = (state: string, ticks: number, nonce: string) => {
  mkdirSync(join(proc, '42'), { recursive: true });
  writeFileSync(join(proc, '42', 'stat'), stat('a b) c', state, ticks));
  writeFileSync(join(proc, '42', 'environ'), `PATH=/bin\0GATEWAY_WORKER=${nonce}\0`);
};

beforeEach(() => {
  proc = scratch();
});

describe('process identity', () => {
  it('reads the start time behind a name with spaces and brackets', () => {
    const expected = { state: 'S', group: 42, session: 42, startTicks: 777 };
    expect(parseStat(stat('a b) S 1 (c', 'S', 777))).toEqual(expected);
    expect(parseStat('nothing')).toBeNull();
    expect(parseStat('1 (x) S 1')).toBeNull();
  });

  it('matches on number, start time and nonce together', () => {
    writeStat('S', 777, NONCE);
    expect(isSameProcess({ pid: 42, startTicks: 777, nonce: NONCE }, proc)).toBe(true);
  });

  it.each([
    ['another start time', 778, NONCE],
    ['another nonce', 777, `${NONCE}x`],
    ['an empty nonce', 777, ''],
  ])('P06: a foreign process with the same pid does not match: %s', (_, startTicks, nonce) => {
    writeStat('S', 777, NONCE);
    expect(isSameProcess({ pid: 42, startTicks, nonce }, proc)).toBe(false);
  });

  it('a zombie and an absent process are not running', () => {
    writeStat('Z', 777, NONCE);
    expect(startTicksOf(42, proc)).toBeNull();
    expect(startTicksOf(43, proc)).toBeNull();
  });

  it('reads the current process', () => {
    expect(startTicksOf(process.pid)).toBeGreaterThan(0);
  });
});

describe('orphanedGroups', () => {
  const member = (
    pid: number,
    [state, group, session, ticks]: [string, number, number, number],
    nonce = NONCE,
  ) => {
    mkdirSync(join(proc, String(pid)));
    const rest = '0 -1 4194560 1 0 0 0 0 0 0 0 20 0 11 0';
    writeFileSync(
      join(proc, String(pid), 'stat'),
      `${pid} (x) ${state} 1 ${group} ${session} ${rest} ${ticks} 9`,
    );
    writeFileSync(join(proc, String(pid), 'environ'), `GATEWAY_WORKER=${nonce}\0`);
  };
  const orphaned = () => orphanedGroups({ pid: 42, startTicks: 777, nonce: NONCE }, proc);

  it('finds the groups in the session of an ended process, each once', () => {
    member(42, ['Z', 42, 42, 777]);
    member(50, ['S', 42, 42, 778]);
    member(51, ['S', 42, 42, 778]);
    member(52, ['S', 52, 42, 779]);
    expect(orphaned().sort()).toEqual([42, 52]);
  });

  it.each([
    ['another nonce', ['S', 42, 42, 778], 'another-nonce-0123456789'],
    ['another session', ['S', 43, 43, 778], NONCE],
    ['an earlier start', ['S', 42, 42, 776], NONCE],
    ['a process that has ended', ['Z', 42, 42, 778], NONCE],
  ] as const)('returns nothing with %s', (_, of, nonce) => {
    member(50, [...of], nonce);
    expect(orphaned()).toEqual([]);
  });

  it('returns nothing while a process has that pid', () => {
    member(42, ['S', 42, 42, 900]);
    member(50, ['S', 42, 42, 901]);
    expect(orphaned()).toEqual([]);
    expect(orphanedGroups({ pid: 42, startTicks: 777, nonce: NONCE }, join(proc, 'none'))).toEqual([]);
  });
});
