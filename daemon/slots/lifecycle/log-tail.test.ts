import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { tailLog } from './log-tail.ts';

let folder: string;
let file: string;
let ended: AbortController;
let running: Promise<void>;
let lines: string[];

beforeEach(() => {
  folder = scratch();
  file = join(folder, 'agent.log');
  ended = new AbortController();
  lines = [];
});
afterEach(async () => {
  ended.abort();
  await running;
});

function tail(maxLines = 200, follow = true): Promise<void> {
  running = tailLog(file, {
    lines: maxLines,
    follow,
    signal: ended.signal,
    onLine: (line) => lines.push(line),
  });
  return running;
}
const expectLines = (expected: string[]) =>
  vi.waitFor(() => expect(lines).toEqual(expected), { timeout: 10_000 });

describe('existing lines', () => {
  it('are the last lines, oldest first, and all without follow', async () => {
    writeFileSync(file, 'one\ntwo\r\nthree\u001b[2J\n');
    await tail(2, false);
    expect(lines).toEqual(['two', 'three\ufffd[2J']);
  });

  it('are none for 0 lines and for a missing file', async () => {
    await tail(5, false);
    writeFileSync(file, 'one\n');
    await tail(0, false);
    expect(lines).toEqual([]);
  });

  it('only the end of a large file is read, from a complete line on', async () => {
    const line = `${'x'.repeat(99)}\n`;
    writeFileSync(file, line.repeat(20_000));
    await tail(1_000_000, false);
    expect(lines.length).toBeGreaterThan(5_000);
    expect(lines.length).toBeLessThan(5_300);
    expect(new Set(lines)).toEqual(new Set(['x'.repeat(99)]));
  });
});

describe('following', () => {
  it('emits new lines, also one that was incomplete before', async () => {
    writeFileSync(file, 'old\nhal');
    void tail();
    await expectLines(['old']);
    appendFileSync(file, 'f\nnext\n');
    await expectLines(['old', 'half', 'next']);
  });

  it('waits for a file that does not exist yet', async () => {
    void tail();
    await vi.waitFor(() => expect(lines).toEqual([]));
    writeFileSync(file, 'first\n');
    await expectLines(['first']);
  });

  it('continues across a rotation and loses nothing of the old file', async () => {
    writeFileSync(file, 'a\n');
    void tail();
    await expectLines(['a']);
    appendFileSync(file, 'b\n');
    renameSync(file, `${file}.1`);
    writeFileSync(file, 'c\n');
    await expectLines(['a', 'b', 'c']);
    appendFileSync(file, 'd\n');
    await expectLines(['a', 'b', 'c', 'd']);
  });

  it('continues from the start of a truncated file', async () => {
    writeFileSync(file, 'a long line that goes\n');
    void tail();
    await expectLines(['a long line that goes']);
    writeFileSync(file, 'new\n');
    await expectLines(['a long line that goes', 'new']);
  });

  it('skips what a reader cannot keep up with, and reports it', async () => {
    writeFileSync(file, 'start\n');
    void tail();
    await expectLines(['start']);
    appendFileSync(file, `${`${'y'.repeat(1023)}\n`.repeat(8192)}the end\n`);
    await vi.waitFor(() => expect(lines.at(-1)).toBe('the end'), { timeout: 10_000 });
    expect(lines[1]).toMatch(/^\(\d{7} bytes were passed over\)$/);
    expect(lines.length).toBeLessThan(100);
  });

  it('ends with the signal', async () => {
    const done = tail();
    ended.abort();
    await done;
  });
});
