import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tinyChat } from '../gguf/tiny-chat.ts';
import { encodeGguf } from '../gguf/writer.ts';
import { type StandInHub, startHub } from '../testing/hub.ts';
import { type BenchOptions, type PullBench, pullBench } from '../testing/pull-bench.ts';

const REPO = 'maker/Tiny-Chat-GGUF';
const FILE = 'tiny-chat.Q4_K_M.gguf';
let weights: Buffer;
let hub: StandInHub;
let bench: PullBench;
const ends: (() => Promise<void> | void)[] = [];

beforeAll(() => {
  weights = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', width: 32 })));
});
beforeEach(async () => {
  hub = await startHub({
    [REPO]: { files: { [FILE]: weights, 'README.md': Buffer.from('# Tiny') }, licence: 'mit' },
  });
  ends.push(() => hub.close());
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(options: BenchOptions = {}): Promise<PullBench> {
  bench = await pullBench(hub.url, options);
  ends.push(bench.close);
  return bench;
}
const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** Everything below the models folder, hidden things too. */
const onDisk = () =>
  readdirSync(bench.models, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(bench.models.length + 1))
    .filter((name) => name !== 'svc-demo.gguf');

describe('a pull', () => {
  test('ends as a registered model with its licence, its commit and its sum', async () => {
    await open();
    const { id } = await bench.pull(`${REPO}:q4_k_m`);
    const done = await bench.until(id, 'done', 'failed');
    expect(done).toMatchObject({
      state: 'done',
      repo: REPO,
      file: FILE,
      bytes: weights.length,
      total: weights.length,
      revision: hub.commit(REPO),
      error: null,
      model: 'tiny-chat.Q4_K_M',
    });
    expect(readFileSync(join(bench.models, REPO, FILE))).toEqual(weights);
    expect(onDisk().sort()).toEqual(
      [`${REPO}/${FILE}`, ...onDisk().filter((name) => !name.includes('/'))].sort(),
    );
    expect(bench.registry.views().find(({ id: model }) => model === done.model)).toMatchObject({
      source: 'pull',
      licence: 'mit',
      repo: REPO,
      revision: hub.commit(REPO),
      sha256: sum(weights),
      demo: false,
    });
    expect(bench.events.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['queued', 'running', 'verifying', 'done']),
    );
    await expect(bench.pull(`${REPO}:Q4_K_M`)).rejects.toMatchObject({
      code: 'model.exists',
      options: { details: { model: done.model } },
    });
  });

  test('DL01 survives cut connections, byte by byte from where they were cut', async () => {
    await open();
    hub.fault = { cutAfter: 100_000 };
    const { id } = await bench.pull(REPO);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(hub.sent()).toBe(weights.length);
    const ranges = hub.heard.filter(({ range }) => range !== undefined);
    expect(ranges.length).toBeGreaterThan(2);
    expect(ranges.every(({ ifRange }) => ifRange !== undefined)).toBe(true);
  });

  test('DL01 begins again where the server knows no ranges', async () => {
    await open();
    hub.fault = { slowMs: 20 };
    const { id } = await bench.pull(REPO);
    await expect.poll(() => bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await bench.pulls.pause(id);
    const had = hub.sent();
    hub.fault = { ignoresRanges: true };
    await bench.pulls.resume(id);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(hub.sent() - had).toBe(weights.length);
  });

  test('DL01 begins again when the content has another entity tag', async () => {
    await open();
    hub.fault = { slowMs: 20 };
    const { id } = await bench.pull(REPO);
    await expect.poll(() => bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await bench.pulls.pause(id);
    const had = hub.sent();
    hub.fault = { etag: 'another' };
    await bench.pulls.resume(id);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(hub.sent() - had).toBe(weights.length);
    expect(hub.heard.at(-1)).toMatchObject({ range: expect.stringMatching(/^bytes=[1-9]\d*-$/) });
  });

  test('takes all parts of a split model, and a projector when asked', async () => {
    const [first, second] = [weights.subarray(0, 300_000), Buffer.alloc(6_000, 7)];
    hub.repos[REPO] = {
      files: {
        'big-Q8_0-00001-of-00002.gguf': first,
        'big-Q8_0-00002-of-00002.gguf': second,
        'mmproj-big-f16.gguf': Buffer.alloc(5_000, 1),
        'mmproj-big-f32.gguf': Buffer.alloc(9_000, 1),
      },
    };
    await open();
    const record = await bench.pull(`${REPO}:Q8_0`, { projector: true });
    expect(record).toMatchObject({ files: 3, total: 311_000, file: 'big-Q8_0-00001-of-00002.gguf' });
    // The parts are no model, and nothing of them is seen under its name.
    expect(await bench.until(record.id, 'done', 'failed')).toMatchObject({
      state: 'failed',
      error: { code: 'pull.no_model' },
    });
    expect(existsSync(join(bench.models, REPO))).toBe(false);
    await bench.pulls.cancel(record.id);
    expect(onDisk().filter((name) => name.startsWith('.pulls'))).toEqual([]);
  });

  test('DL10 asked for twice is one transfer', async () => {
    await open();
    hub.fault = { slowMs: 5 };
    const [one, two] = await Promise.all([bench.pull(REPO), bench.pull(`${REPO}:${FILE}`)]);
    expect(one.id).toBe(two.id);
    await bench.until(one.id, 'done');
    expect(hub.sent()).toBe(weights.length);
  });

  test('DL10 that is cancelled leaves nothing, and one that is paused stays as it is over a restart', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-pulls-'));
    ends.push(() => rmSync(home, { recursive: true, force: true }));
    await open({ home });
    hub.fault = { slowMs: 10 };
    const { id } = await bench.pull(REPO);
    await expect.poll(() => bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    const paused = await bench.pulls.pause(id);
    expect(paused.state).toBe('paused');
    await bench.close();
    ends.pop();
    await open({ home });
    expect(bench.pulls.list()).toMatchObject([{ id, state: 'paused' }]);
    hub.fault = {};
    const had = hub.sent();
    await bench.pulls.resume(id);
    await bench.until(id, 'done');
    expect(hub.sent() - had).toBeLessThan(weights.length);
    await expect(bench.pulls.cancel(id)).rejects.toMatchObject({ code: 'pull.state' });
  });

  test('that runs when the gateway stops goes on at the next start, from its exact byte', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-pulls-'));
    ends.push(() => rmSync(home, { recursive: true, force: true }));
    await open({ home });
    hub.fault = { slowMs: 10 };
    const { id } = await bench.pull(REPO);
    await expect.poll(() => bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await bench.close();
    ends.pop();
    const part = onDisk().find((name) => name.endsWith('.part')) ?? '';
    const there = readFileSync(join(bench.models, part)).length;
    hub.fault = {};
    await open({ home });
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(hub.heard.at(-1)?.range).toBe(`bytes=${there}-`);
  });
});

describe('DL02 DL06 DL09 what comes wrong is never seen under its name', () => {
  test.each([
    ['another content', { bytes: () => Buffer.from(weights).fill(1, 1000, 2000) }, 'pull.checksum_mismatch'],
    ['a shorter content', { bytes: () => weights.subarray(0, 9000) }, 'pull.checksum_mismatch'],
    ['a longer content', { bytes: () => Buffer.concat([weights, weights]) }, 'pull.checksum_mismatch'],
    ['an endless one', { endless: true }, 'pull.checksum_mismatch'],
    ['a compressed one', { gzip: true }, 'pull.checksum_mismatch'],
    ['a redirect to a private address', { redirect: 'https://192.168.1.1/x' }, 'pull.hub_unreachable'],
    ['a redirect to this machine', { redirect: 'https://127.0.0.1:1/x' }, 'pull.hub_unreachable'],
    ['the same in decimal', { redirect: 'https://2130706433/x' }, 'pull.hub_unreachable'],
    ['the same in octal', { redirect: 'https://0177.0.0.1/x' }, 'pull.hub_unreachable'],
    ['the same as mapped IPv6', { redirect: 'https://[::ffff:127.0.0.1]/x' }, 'pull.hub_unreachable'],
    ['the unspecified address', { redirect: 'https://[::]/x' }, 'pull.hub_unreachable'],
    ['cloud metadata', { redirect: 'https://169.254.169.254/x' }, 'pull.hub_unreachable'],
    ['a redirect without TLS', { redirect: 'http://example.com/x' }, 'pull.hub_unreachable'],
    ['a redirect to a file', { redirect: 'file:///etc/passwd' }, 'pull.hub_unreachable'],
    ['a redirect in a circle', { redirect: `/${REPO}/resolve/main/${FILE}` }, 'pull.hub_unreachable'],
  ] as const)('%s', async (_, fault, code) => {
    await open();
    const { bytes, ...rest } = fault as { bytes?: () => Buffer };
    hub.fault = { ...rest, ...(bytes === undefined ? {} : { bytes: bytes() }) };
    const { id } = await bench.pull(REPO);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'failed', error: { code } });
    expect(existsSync(join(bench.models, REPO))).toBe(false);
    for (const part of onDisk().filter((name) => name.endsWith('.part')))
      expect(readFileSync(join(bench.models, part)).length).toBeLessThanOrEqual(weights.length);
    hub.fault = {};
    await bench.pulls.resume(id);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  });

  test('a name that leads to a public and to a private address is not connected to', async () => {
    const lookup = (
      _: string,
      __: unknown,
      done: (error: null, found: { address: string; family: number }[]) => void,
    ) =>
      done(null, [
        { address: '93.184.216.34', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ]);
    await open({ lookup: lookup as NonNullable<BenchOptions['lookup']> });
    hub.fault = { redirect: 'https://storage.example/x' };
    const { id } = await bench.pull(REPO);
    const failed = await bench.until(id, 'failed');
    expect(failed.error).toMatchObject({
      code: 'pull.hub_unreachable',
      message: expect.stringMatching(/private network/),
    });
  });

  test('a damaged beginning of an earlier run is fetched again once', async () => {
    await open();
    hub.fault = { slowMs: 10, bytes: Buffer.from(weights).fill(9, 0, 10_000) };
    const { id } = await bench.pull(REPO);
    await expect.poll(() => bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(10_000);
    await bench.pulls.pause(id);
    hub.fault = {};
    await bench.pulls.resume(id);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(readFileSync(join(bench.models, REPO, FILE))).toEqual(weights);
  });
});

describe('what the hub refuses is explained', () => {
  test('no such repository, revision, file, quantisation', async () => {
    await open();
    await expect(bench.pull('maker/none')).rejects.toMatchObject({
      code: 'pull.not_found',
      message: expect.stringMatching(/HF_TOKEN/),
    });
    await expect(bench.pull(REPO, { revision: 'v9' })).rejects.toMatchObject({ code: 'pull.not_found' });
    await expect(bench.pull(`${REPO}:Q2_K`)).rejects.toMatchObject({
      code: 'pull.not_found',
      options: { details: { choices: [FILE] } },
    });
  });

  test('a gated repository without a token, with a wrong one, with the right one', async () => {
    hub.repos[REPO] = { files: { [FILE]: weights }, gated: true };
    await open();
    await expect(bench.pull(REPO)).rejects.toMatchObject({
      code: 'pull.gated',
      message: expect.stringMatching(/hub/),
    });
    await open({ env: { HF_TOKEN: 'hf_wrong' } });
    const denied = await bench.pull(REPO);
    expect(await bench.until(denied.id, 'done', 'failed')).toMatchObject({ error: { code: 'pull.gated' } });
    await open({ env: { HF_TOKEN: 'hf_goodtoken' } });
    const { id } = await bench.pull(REPO);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(JSON.stringify(bench.events)).not.toContain('hf_');
  });

  test('a hub that is away, and one that is no hub', async () => {
    await open();
    hub.repos = {};
    await hub.close();
    await expect(bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.hub_unreachable' });
  });

  test('waits as long as a busy hub asks, then goes on', async () => {
    await open();
    hub.fault = { status: 429, headers: { 'retry-after': '0' } };
    const { id } = await bench.pull(REPO);
    await expect.poll(() => bench.pulls.list()[0]?.retries, { timeout: 10_000 }).toBeGreaterThan(1);
    hub.fault = {};
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done', retries: 0 });
  });
});

describe('the disk', () => {
  test('DL03 that has no room refuses before anything is fetched; others count', async () => {
    let free = 512 * 1024 * 1024 + weights.length - 1;
    await open({ free: async () => free });
    await expect(bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.no_space', status: 507 });
    expect(bench.pulls.list()).toEqual([]);
    free += 1;
    hub.fault = { slowMs: 20 };
    const { id } = await bench.pull(REPO);
    hub.repos['other/m'] = { files: { 'm.gguf': Buffer.alloc(8000) } };
    await expect(bench.pull('other/m')).rejects.toMatchObject({ code: 'pull.no_space' });
    hub.fault = {};
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  });

  test('DL04 with a link in the place of the repository is not written through', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
    ends.push(() => rmSync(outside, { recursive: true, force: true }));
    await open();
    mkdirSync(bench.models, { recursive: true });
    symlinkSync(outside, join(bench.models, 'maker'));
    const { id } = await bench.pull(REPO);
    expect(await bench.until(id, 'done', 'failed')).toMatchObject({
      state: 'failed',
      error: { code: 'pull.bad_name' },
    });
    expect(readdirSync(outside)).toEqual([]);
  });
});

test.each([
  '../x.gguf',
  '/etc/x.gguf',
  'a\\..\\x.gguf',
  'C:x.gguf',
  'con.gguf',
  'a/./x.gguf',
  'x\u202egguf.gguf',
  `${'a'.repeat(300)}.gguf`,
  '.hidden.gguf',
])('DL04 a file that the hub calls %j is refused', async (name) => {
  hub.repos[REPO] = { files: { [FILE]: weights }, listsAs: { [FILE]: name } };
  await open();
  await expect(bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.bad_name' });
  expect(bench.pulls.list()).toEqual([]);
});
