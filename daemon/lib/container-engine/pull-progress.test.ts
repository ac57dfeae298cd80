import { expect, test } from 'vitest';
import { PullProgress } from './pull-progress.ts';

const line = (id: string, status: string, current?: number, total?: number) =>
  `${JSON.stringify({ id, status, progressDetail: current === undefined ? {} : { current, total } })}\r\n`;

function progressOf(...pieces: string[]): PullProgress {
  const progress = new PullProgress();
  for (const piece of pieces) progress.push(Buffer.from(piece));
  progress.end();
  return progress;
}

test('the share is null before the first bytes', () => {
  expect(progressOf(line('latest', 'Pulling from x'), line('a', 'Pulling fs layer')).share).toBeNull();
});

test('the share counts the bytes of all layers', () => {
  expect(progressOf(line('a', 'Downloading', 50, 100), line('b', 'Downloading', 0, 300)).share).toBeCloseTo(
    0.5,
  );
  expect(progressOf(line('a', 'Downloading', 50, 100), line('a', 'Download complete')).share).toBe(1);
});

test('the share never decreases when a layer appears, and unpacking is not counted again', () => {
  const progress = progressOf(line('a', 'Downloading', 100, 100));
  progress.push(Buffer.from(line('b', 'Downloading', 0, 100)));
  progress.push(Buffer.from(line('a', 'Extracting', 1, 100)));
  expect(progress.share).toBe(1);
});

test('reads an error inside a 200 response, also without a line end', () => {
  expect(progressOf('{"error":"manifest unknown"}').error).toBe('manifest unknown');
  expect(progressOf(line('a', 'Downloading', 1, 2)).error).toBeNull();
});

test('accepts any chunk boundaries and ignores invalid JSON', () => {
  const text = `garbage\n${line('a', 'Downloading', 1, 4)}[]\n`;
  expect(progressOf(...text).share).toBe(0.25);
});

test('does not collect an endless line', () => {
  const progress = new PullProgress();
  for (let turn = 0; turn < 64; turn += 1) progress.push(Buffer.alloc(1 << 16, 'x'));
  progress.push(Buffer.from(`\n${line('a', 'Downloading', 1, 2)}`));
  expect(progress.share).toBe(0.5);
});
