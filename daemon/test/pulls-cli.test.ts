import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CatalogView } from '../contract/catalog.ts';
import type { PullRecord } from '../contract/pulls.ts';
import { SHIPPED_CATALOG } from '../models/catalog.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../models/testing/hub.ts';
import { KEYS_FILE, QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const REPO = 'maker/Tiny-Chat-GGUF';
let hub: FakeHub;
const run = (...args: string[]) => svcctl(args, { env: envFor(gateway) });

beforeAll(async () => {
  const weights = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', width: 32 })));
  hub = await startHub({ [REPO]: { files: { 'tiny-Q8_0.gguf': weights }, licence: 'mit' } });
});
afterAll(() => hub?.close());
const gateway = new OneGateway(() =>
  startGateway({ env: { HF_ENDPOINT: hub.url }, files: { ...KEYS_FILE, ...QUIET_FILE } }),
);

test('search, pull, list, remove', async () => {
  expect((await run('models', 'search', 'tiny')).out).toContain(REPO);
  const pulled = await run('models', 'pull', `${REPO}:Q8_0`);
  expect([pulled.code, pulled.out, pulled.err]).toEqual([0, 'Downloaded tiny-Q8_0.\n', '']);
  const list = await run('models', 'list', '--wide');
  expect(list.out).toMatch(new RegExp(`tiny-Q8_0 +llm .*${REPO} +mit`));
  expect((await run('models', 'list', '--quiet')).out).toContain('tiny-Q8_0\n');
  const again = await run('models', 'pull', `${REPO}:Q8_0`);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('model.exists')]);
  expect((await run('models', 'rm', 'tiny-Q8_0')).code).toBe(5);
  expect((await run('models', 'rm', 'tiny-Q8_0', '--force')).out).toContain('Files deleted: 1.');
});

test('the quantisations of a repository are listed with size, fit and expected speed', async () => {
  // The speed of the memory is being measured at first.
  await expect
    .poll(async () => (await run('models', 'files', REPO, '--wide')).out, { timeout: 100_000 })
    .toMatch(/tiny-Q8_0\.gguf +Q8_0 +\S+ \S+ +fits +about \d\S* tokens\/s +default/);
  expect((await run('models', 'files', 'maker/none')).err).toContain('pull.not_found');
  expect((await run('models', 'files', 'none')).err).toContain('pull.bad_name');
}, 120_000);

test.each([
  (hubUrl: string) => `${hubUrl}/${REPO}/blob/main/tiny-Q8_0.gguf`,
  () => `https://huggingface.co/${REPO}`,
  () => `hf.co/${REPO}:Q8_0`,
  () => `ollama run hf.co/${REPO}:Q8_0`,
  () => `https://huggingface.co/${REPO}/resolve/main/tiny-Q8_0.gguf?download=true`,
  () => `hf://${REPO}/tiny-Q8_0.gguf`,
])('a pasted address is downloaded (%#)', async (address) => {
  const pulled = await run('models', 'pull', address(hub.url));
  expect([pulled.code, pulled.out, pulled.err]).toEqual([0, 'Downloaded tiny-Q8_0.\n', '']);
  await run('models', 'rm', 'tiny-Q8_0', '--force');
});

test.each([
  ['https://huggingface.co/datasets/a/b', /a dataset, not of a model.*address of the page/s],
  ['https://example.com/a/b.gguf', /svcctl models register PATH/],
  ['qwen3.5:70b', /Did you mean .*unsloth\/Qwen3\.5-9B/],
  ['mistral:7b', /svcctl models search/],
  [`${REPO}:`, /must follow the colon/],
])('%s is refused with the next step', async (address, reason) => {
  const refused = await run('models', 'pull', address);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(reason)]);
  expect(refused.err).toContain('pull.bad_name');
});

test('a download is paused, resumed and cancelled by a prefix of its id', async () => {
  hub.fault = { slowMs: 1_000 }; // still running when three programs have started
  const created = (await run('models', 'pull', REPO, '--no-wait', '--json')).json<PullRecord>();
  const start = created.id.slice(0, 8);
  expect((await run('models', 'pause', start)).out).toContain('is paused');
  expect((await run('models', 'pulls', '--wide')).out).toMatch(new RegExp(`${created.id} +paused`));
  expect((await run('models', 'cancel', start)).out).toContain('is cancelled');
  expect((await run('models', 'resume', start)).err).toContain('pull.state');
  expect((await run('models', 'cancel', 'zz')).code).toBe(1);
  hub.fault = {};
});

const pullsNow = async () => (await run('models', 'pulls', '--json')).json<{ pulls: PullRecord[] }>().pulls;
const running = async () => (await pullsNow()).find(({ state }) => state === 'running');

test('a cancelled download ends a waiting command with a message and an exit code', async () => {
  hub.fault = { slowMs: 1_000 };
  const waiting = run('models', 'pull', REPO);
  await until(async () => (await running()) !== undefined, 'the download to run');
  await run('models', 'cancel', (await running())?.id ?? '');
  const { code, out } = await waiting;
  expect([code, out]).toEqual([1, expect.stringMatching(/^Download \w+ is cancelled: /)]);
  hub.fault = {};
});

test('resume waits for the download unless --no-wait is given', async () => {
  hub.fault = { slowMs: 1_000 };
  const { id } = (await run('models', 'pull', REPO, '--no-wait', '--json')).json<PullRecord>();
  await run('models', 'pause', id);
  const atOnce = await run('models', 'resume', id, '--no-wait');
  expect([atOnce.code, atOnce.out]).toEqual([
    0,
    expect.stringMatching(/^Download \w+ is (queued|running): /),
  ]);
  await until(async () => (await running())?.id === id, 'the download to run');
  await run('models', 'pause', id);
  hub.fault = {};
  const waited = await run('models', 'resume', id);
  expect([waited.code, waited.out]).toEqual([0, 'Downloaded tiny-Q8_0.\n']);
  await run('models', 'rm', 'tiny-Q8_0', '--force');
});

test('a failure names the reason and its code', async () => {
  const missing = await run('models', 'pull', 'maker/none');
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('pull.not_found')]);
  expect((await run('models', 'pull')).code).toBe(2);
});

test('a registered file of the operator is not deleted when it is unregistered', async () => {
  const path = join(gateway.home, 'mine.gguf');
  writeFileSync(path, encodeGguf(tinyEmbed()));
  expect((await run('models', 'register', path)).out).toBe('Registered mine (embedding).\n');
  expect((await run('models', 'register', join(gateway.home, 'none.gguf'))).code).toBe(1);
  expect((await run('models', 'scan')).out).toMatch(/^Found \d+ models?\.\n$/);
  expect((await run('models', 'rm', 'mine', '--force')).out).toContain('Its files were not deleted');
  expect((await run('models', 'register', path)).code).toBe(0);
});

test('the catalogue shows what fits', async () => {
  const view = (await run('models', 'catalog', '--json')).json<CatalogView>();
  expect(view.entries.length).toBeGreaterThan(10);
  expect(view.entries.every(({ fit }) => fit.badge !== undefined)).toBe(true);
  const unsupported = view.entries.filter(({ objection }) => objection !== null);
  expect(unsupported.map(({ name, engine }) => [name, engine])).toEqual([
    ['EmbeddingGemma 2', 'llama-server after b11146'],
    ['Nemotron 3.5 ASR streaming 0.6B', 'sherpa-onnx online recogniser'],
    ['Supertonic 3', 'sherpa-onnx 1.13.8'],
  ]);
  const shown = await run('models', 'catalog', 'embedding', '--wide');
  expect(shown.out).toMatch(/embedding +any, cpu +nomic-ai/);
  expect(shown.out).toMatch(/embeddinggemma-2-GGUF\S* +\S+ \S+ +not supported +- /);
  expect(shown.out).not.toContain('chat ');
});

test('a newer catalogue is loaded from a file with its SHA-256, and removed again', async () => {
  const list = { ...JSON.parse(readFileSync(SHIPPED_CATALOG, 'utf8')), as_of: '2099-01-01' };
  const path = join(gateway.home, 'list.json');
  writeFileSync(path, JSON.stringify(list));
  const sum = createHash('sha256').update(JSON.stringify(list)).digest('hex');
  const update = (...more: string[]) => run('models', 'catalog', 'small', '--update', path, ...more);
  expect(await update()).toMatchObject({ code: 2, err: expect.stringContaining('--sha256') });
  expect(await update('--sha256', 'f'.repeat(64))).toMatchObject({
    code: 1,
    err: expect.stringContaining('catalog.checksum_mismatch'),
  });
  expect((await update('--sha256', sum)).out).toContain('List of 2099-01-01 that you loaded');
  expect((await run('models', 'catalog', '--reset')).out).toContain('that came with the gateway');
});
