import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import type { BenchOptions } from '../testing/pull-bench.ts';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const pullHub = new PullHub();
const { open, onDisk } = pullHub;

describe('DL02 DL06 DL09 wrong data is never visible under its name', () => {
  test.each([
    ['another content', { bytes: () => Buffer.from(WEIGHTS).fill(1, 1000, 2000) }, 'pull.checksum_mismatch'],
    ['a shorter content', { bytes: () => WEIGHTS.subarray(0, 9000) }, 'pull.checksum_mismatch'],
    ['a longer content', { bytes: () => Buffer.concat([WEIGHTS, WEIGHTS]) }, 'pull.checksum_mismatch'],
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
    ['a redirect loop', { redirect: `/${REPO}/resolve/main/${FILE}` }, 'pull.hub_unreachable'],
  ] as const)('%s', async (_, fault, code) => {
    await open();
    const { bytes, ...rest } = fault as { bytes?: () => Buffer };
    pullHub.hub.fault = { ...rest, ...(bytes === undefined ? {} : { bytes: bytes() }) };
    const { id } = await pullHub.bench.pull(REPO);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({
      state: 'failed',
      error: { code },
    });
    expect(existsSync(join(pullHub.bench.models, REPO))).toBe(false);
    for (const part of onDisk().filter((name) => name.endsWith('.part')))
      expect(readFileSync(join(pullHub.bench.models, part)).length).toBeLessThanOrEqual(WEIGHTS.length);
    pullHub.hub.fault = {};
    await pullHub.bench.pulls.resume(id);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  });

  test('does not connect to a name with both a public and a private address', async () => {
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
    pullHub.hub.fault = { redirect: 'https://storage.example/x' };
    const { id } = await pullHub.bench.pull(REPO);
    const failed = await pullHub.bench.until(id, 'failed');
    expect(failed.error).toMatchObject({
      code: 'pull.hub_unreachable',
      message: expect.stringMatching(/private network/),
    });
  });

  test('downloads a damaged start of an earlier run again, once', async () => {
    await open();
    pullHub.hub.fault = { slowMs: 10, bytes: Buffer.from(WEIGHTS).fill(9, 0, 10_000) };
    const { id } = await pullHub.bench.pull(REPO);
    await expect
      .poll(() => pullHub.bench.pulls.list()[0]?.bytes, { timeout: 10_000 })
      .toBeGreaterThan(10_000);
    await pullHub.bench.pulls.pause(id);
    pullHub.hub.fault = {};
    await pullHub.bench.pulls.resume(id);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(readFileSync(join(pullHub.bench.models, REPO, FILE))).toEqual(WEIGHTS);
  });
});

test.each([
  ['foo', /owner\/name/],
  ['foo:Q4_K_M', /owner\/name/],
  ['maker/m:', /follow the colon/],
])('refuses %j and names what is missing', async (name, message) => {
  await open();
  await expect(pullHub.bench.pull(name)).rejects.toMatchObject({
    code: 'pull.bad_name',
    message: expect.stringMatching(message),
  });
});

describe('explains refusals of the hub', () => {
  test('unknown repository, revision, file, quantisation', async () => {
    await open();
    await expect(pullHub.bench.pull('maker/none')).rejects.toMatchObject({
      code: 'pull.not_found',
      message: expect.stringMatching(/HF_TOKEN/),
    });
    await expect(pullHub.bench.pull(REPO, { revision: 'v9' })).rejects.toMatchObject({
      code: 'pull.not_found',
    });
    await expect(pullHub.bench.pull(`${REPO}:Q2_K`)).rejects.toMatchObject({
      code: 'pull.not_found',
      options: { details: { choices: [FILE] } },
    });
  });

  test('a gated repository without a token, with a wrong one, with the right one', async () => {
    pullHub.hub.repos[REPO] = { files: { [FILE]: WEIGHTS }, gated: true };
    await open();
    await expect(pullHub.bench.pull(REPO)).rejects.toMatchObject({
      code: 'pull.gated',
      message: expect.stringMatching(/gated/),
    });
    await open({ env: { HF_TOKEN: 'hf_wrong' } });
    const denied = await pullHub.bench.pull(REPO);
    expect(await pullHub.bench.until(denied.id, 'done', 'failed')).toMatchObject({
      error: { code: 'pull.gated' },
    });
    await open({ env: { HF_TOKEN: 'hf_goodtoken' } });
    const { id } = await pullHub.bench.pull(REPO);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(JSON.stringify(pullHub.bench.events)).not.toContain('hf_');
  });

  test('an unreachable hub, and a server that is not a hub', async () => {
    await open();
    pullHub.hub.repos = {};
    await pullHub.hub.close();
    await expect(pullHub.bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.hub_unreachable' });
  });

  test('waits as long as a busy hub requests, then continues', async () => {
    await open();
    pullHub.hub.fault = { status: 429, headers: { 'retry-after': '0' } };
    const { id } = await pullHub.bench.pull(REPO);
    await expect.poll(() => pullHub.bench.pulls.list()[0]?.retries, { timeout: 10_000 }).toBeGreaterThan(1);
    pullHub.hub.fault = {};
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done', retries: 0 });
  });
});

describe('the disk', () => {
  test('DL03 refuses before the transfer when the disk is full, including the needs of other pulls', async () => {
    let free = 512 * 1024 * 1024 + WEIGHTS.length - 1;
    await open({ free: async () => free });
    await expect(pullHub.bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.no_space', status: 507 });
    expect(pullHub.bench.pulls.list()).toEqual([]);
    free += 1;
    pullHub.hub.fault = { slowMs: 20 };
    const { id } = await pullHub.bench.pull(REPO);
    pullHub.hub.repos['other/m'] = { files: { 'm.gguf': Buffer.alloc(8000) } };
    await expect(pullHub.bench.pull('other/m')).rejects.toMatchObject({ code: 'pull.no_space' });
    pullHub.hub.fault = {};
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  });

  test("DL04 does not write through a link at the repository's folder", async () => {
    const outside = scratch();
    await open();
    mkdirSync(pullHub.bench.models, { recursive: true });
    symlinkSync(outside, join(pullHub.bench.models, 'maker'));
    const { id } = await pullHub.bench.pull(REPO);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({
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
])('DL04 refuses a file that the hub names %j', async (name) => {
  pullHub.hub.repos[REPO] = { files: { [FILE]: WEIGHTS }, listsAs: { [FILE]: name } };
  await open();
  await expect(pullHub.bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.bad_name' });
  expect(pullHub.bench.pulls.list()).toEqual([]);
});
