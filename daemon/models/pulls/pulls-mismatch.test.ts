import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../testing/hub.ts';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const pullHub = new PullHub();
const { open, onDisk } = pullHub;

const PAGE: Fault = { page: { type: 'text/html; charset=utf-8', hasLength: false } };
const cut: Fault = { cutAfter: 100_000 };
const content = () => readFileSync(join(pullHub.bench.models, REPO, FILE));
const ranges = () =>
  pullHub.hub.requests.filter(({ url }) => url.startsWith('/storage/')).map(({ range }) => range);
const part = () => join(pullHub.bench.models, onDisk().find((name) => name.endsWith('.part')) ?? '');

async function ended(...queue: Fault[]) {
  await open();
  pullHub.hub.queue.push(...queue);
  const { id } = await pullHub.bench.pull(REPO);
  return pullHub.bench.until(id, 'done', 'failed');
}

describe('a wrong response in the middle costs no byte', () => {
  test.each<[string, Fault]>([
    ['a web page without a length', PAGE],
    ['a web page with a length', { page: { type: 'text/html', hasLength: true } }],
    ['a web page of another type', { page: { type: 'application/octet-stream', hasLength: false } }],
    ['a short text', { bytes: Buffer.from('x'.repeat(3000)), ignoresRanges: true }],
    ['a compressed one', { gzip: true }],
    ['a refusal without a reason', { status: 403, headers: { 'content-type': 'application/xml' } }],
    ['a range in a whole response', { shifted: { status: 200, by: 0 } }],
    ['a range that begins earlier', { shifted: { status: 206, by: 4096 } }],
    ['a range that begins later', { shifted: { status: 206, by: -4096 } }],
    ['a whole file that is cut early', { ignoresRanges: true, cutAfter: 50_000 }],
    ['other content of the same size', { bytes: Buffer.alloc(WEIGHTS.length), ignoresRanges: true }],
  ])('%s', async (_, fault) => {
    expect(await ended(cut, fault)).toMatchObject({ state: 'done' });
    expect(content()).toEqual(WEIGHTS);
    const starts = ranges().map((range) => Number(/\d+/.exec(range ?? '')?.[0] ?? 0));
    expect(starts.slice(1).every((start) => start >= 100_000)).toBe(true);
  });

  test('and three of them, when each is followed by progress', async () => {
    expect(await ended(cut, PAGE, cut, PAGE, cut, PAGE, PAGE)).toMatchObject({ state: 'done' });
    expect(content()).toEqual(WEIGHTS);
  });
});

test.each<[string, Fault]>([
  ['text/html', PAGE],
  ['no type that says so', { page: { type: 'application/octet-stream', hasLength: false } }],
])('a web page that always comes, with %s, is named, and the download resumes', async (_, page) => {
  const failed = await ended(cut, page, page, page);
  expect(failed).toMatchObject({
    state: 'failed',
    bytes: 100_000,
    error: { code: 'pull.web_page', message: expect.stringMatching(/web page/), advice: expect.any(String) },
  });
  await pullHub.bench.pulls.resume(failed.id);
  expect(await pullHub.bench.until(failed.id, 'done', 'failed')).toMatchObject({ state: 'done' });
  expect(ranges().at(-1)).toBe('bytes=100000-');
});

test('a web page as the first response leaves nothing in the file', async () => {
  expect(await ended(PAGE, { page: { type: 'text/plain', hasLength: false } })).toMatchObject({
    state: 'done',
  });
  expect(content()).toEqual(WEIGHTS);
});

test('the reason of a failed try is shown while the next one runs', async () => {
  await open();
  pullHub.hub.queue.push(cut, { status: 429, headers: { ratelimit: '"resolvers";r=0;t=1' } });
  pullHub.hub.fault = { slowMs: 20 };
  const { id } = await pullHub.bench.pull(REPO);
  await expect
    .poll(() => pullHub.bench.pulls.list()[0]?.retry_reason, { timeout: 10_000 })
    .toMatch(/limits the number of requests. Try again in 1 s/);
  pullHub.hub.fault = {};
  expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ retry_reason: null });
});

test('a content that was damaged in transit is downloaded once more', async () => {
  expect(await ended({ bytes: Buffer.from(WEIGHTS).fill(1, 1000, 2000) })).toMatchObject({ state: 'done' });
  expect(content()).toEqual(WEIGHTS);
});

test.each<[string, (path: string) => void]>([
  ['longer than the file', (path) => writeFileSync(path, Buffer.alloc(WEIGHTS.length + 1))],
  ['empty', (path) => truncateSync(path, 0)],
  ['of other content', (path) => writeFileSync(path, Buffer.alloc(50_000, 7))],
])('a partial file that is %s is replaced', async (_, damage) => {
  await open();
  pullHub.hub.fault = { slowMs: 20 };
  const { id } = await pullHub.bench.pull(REPO);
  await expect.poll(() => pullHub.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
  await pullHub.bench.pulls.pause(id);
  damage(part());
  pullHub.hub.fault = { ignoresRanges: true };
  await pullHub.bench.pulls.resume(id);
  expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  expect(content()).toEqual(WEIGHTS);
});
