import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { openFiles } from '../testing/open-files.ts';
import { EngineLog } from './engine-log.ts';

let folder: string;
beforeEach(() => {
  folder = scratch();
});

it('keeps lines in memory and on disk, private to the owner', async () => {
  const log = new EngineLog(join(folder, 'logs'), 'agent');
  log.push(Buffer.from('one\ntw'));
  log.push(Buffer.from('o\nopen'));
  await log.close();
  const file = join(folder, 'logs', 'agent.log');
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nopen\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(log.lines(2)).toEqual(['two', 'open']);
});

it('appends to the file of an earlier start', async () => {
  for (const word of ['one', 'two']) {
    const log = new EngineLog(folder, 'agent');
    log.push(Buffer.from(`${word}\n`));
    await log.close();
  }
  expect(readFileSync(join(folder, 'agent.log'), 'utf8')).toBe('one\ntwo\n');
});

it('does not open the file again once it is closed, and keeps late output in memory', async () => {
  const log = new EngineLog(folder, 'agent');
  log.push(Buffer.from('one\n'));
  await log.close();
  log.note('a note');
  log.push(Buffer.from('late\n'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(openFiles()).not.toContain(join(folder, 'agent.log'));
  expect(readFileSync(join(folder, 'agent.log'), 'utf8')).toBe('one\n');
  expect(log.lines()).toEqual(['one', 'late']);
});

it('P11: 50 MB of output leave two bounded files and a bounded ring', async () => {
  const limits = { lines: 400, fileBytes: 100_000, backlogBytes: 50_000 };
  const log = new EngineLog(folder, 'agent', limits);
  const flood = Buffer.from(`${'x'.repeat(100)}\n`.repeat(10_000));
  for (let i = 0; i < 50; i++) {
    log.push(flood);
    await new Promise(setImmediate);
  }
  await log.close();
  expect(log.lines()).toHaveLength(400);
  for (const name of ['agent.log', 'agent.log.1']) {
    expect(statSync(join(folder, name)).size).toBeLessThan(200_000);
  }
});

it('a folder that cannot be written loses the file only', async () => {
  const blocked = join(folder, 'file');
  writeFileSync(blocked, '');
  const log = new EngineLog(blocked, 'agent');
  log.push(Buffer.from('still here\n'));
  await log.close();
  expect(log.lines()).toEqual(['still here']);
});

it('continues in the file once a failed disk works again', async () => {
  const file = join(folder, 'agent.log');
  mkdirSync(file);
  const log = new EngineLog(folder, 'agent');
  log.push(Buffer.from('lost\n'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  rmdirSync(file);
  await vi.waitFor(() => {
    log.push(Buffer.from('again\n'));
    expect(readFileSync(file, 'utf8')).toContain('again\n');
  }, 10_000);
  await log.close();
  expect(log.lines()[0]).toBe('lost');
});
