import { expect, test } from 'vitest';
import { PullProgress } from './pull-story.ts';

const line = (id: string, status: string, current?: number, total?: number) =>
  `${JSON.stringify({ id, status, progressDetail: current === undefined ? {} : { current, total } })}\r\n`;

function told(...pieces: string[]): PullProgress {
  const story = new PullProgress();
  for (const piece of pieces) story.push(Buffer.from(piece));
  story.end();
  return story;
}

test('nothing is known before the first bytes', () => {
  expect(told(line('latest', 'Pulling from x'), line('a', 'Pulling fs layer')).share).toBeNull();
});

test('the share counts the bytes of all layers', () => {
  expect(told(line('a', 'Downloading', 50, 100), line('b', 'Downloading', 0, 300)).share).toBeCloseTo(0.5);
  expect(told(line('a', 'Downloading', 50, 100), line('a', 'Download complete')).share).toBe(1);
});

test('it never falls when a new layer shows up, and unpacking is not counted again', () => {
  const story = told(line('a', 'Downloading', 100, 100));
  story.push(Buffer.from(line('b', 'Downloading', 0, 100)));
  story.push(Buffer.from(line('a', 'Extracting', 1, 100)));
  expect(story.share).toBe(1);
});

test('an error inside of a 200 is heard, without an end of line too', () => {
  expect(told('{"error":"manifest unknown"}').error).toBe('manifest unknown');
  expect(told(line('a', 'Downloading', 1, 2)).error).toBeNull();
});

test('lines cut anywhere and text that is no JSON do no harm', () => {
  const text = `garbage\n${line('a', 'Downloading', 1, 4)}[]\n`;
  expect(told(...text).share).toBe(0.25);
});

test('a line without end is not collected', () => {
  const story = new PullProgress();
  for (let turn = 0; turn < 64; turn += 1) story.push(Buffer.alloc(1 << 16, 'x'));
  story.push(Buffer.from(`\n${line('a', 'Downloading', 1, 2)}`));
  expect(story.share).toBe(0.5);
});
