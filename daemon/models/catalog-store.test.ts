import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../lib/log.ts';
import { Outbound } from '../lib/net/outbound.ts';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { SHIPPED_CATALOG } from './catalog.ts';
import { type Catalog, openCatalog } from './catalog-store.ts';

const TEXT = readFileSync(SHIPPED_CATALOG, 'utf8');
const shipped = JSON.parse(TEXT);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const { signal } = new AbortController();

function open(stored = new Map<string, string>()) {
  const outbound = new Outbound({ connectMs: () => 1000 });
  onTestFinished(() => outbound.close());
  const keyValue = {
    get: (key: string) => stored.get(key) ?? null,
    set: (key: string, value: string) => void stored.set(key, value),
  };
  const reopened = () => openCatalog({ keyValue, outbound, log: silentLog() });
  return { catalog: reopened(), reopened };
}
/** A newer list, in which the first entry has another name. */
const newer = (over: Record<string, unknown> = {}): string =>
  JSON.stringify({
    ...shipped,
    as_of: '2099-01-01',
    entries: [{ ...shipped.entries[0], name: 'Newer' }, ...shipped.entries.slice(1)],
    ...over,
  });
const update = (catalog: Catalog, text: string, sum = sha256(text)) =>
  catalog.update({ text, sha256: sum }, signal);
const firstName = (catalog: Catalog) => catalog.entries()[0]?.name;

test('a newer list replaces the shipped one, survives a restart and is removed again', async () => {
  const { catalog, reopened } = open();
  expect([catalog.asOf(), catalog.isUpdated()]).toEqual([shipped.as_of, false]);
  await update(catalog, newer(), sha256(newer()).toUpperCase());
  expect([catalog.asOf(), catalog.isUpdated(), firstName(catalog)]).toEqual(['2099-01-01', true, 'Newer']);
  expect(firstName(reopened())).toBe('Newer');
  catalog.reset();
  expect([catalog.isUpdated(), firstName(reopened())]).toEqual([false, shipped.entries[0].name]);
});

test.each([
  ['another SHA-256', newer(), 'f'.repeat(64), 'catalog.checksum_mismatch', 'SHA-256'],
  ['no JSON', 'text', undefined, 'catalog.invalid', 'not JSON'],
  ['an unknown field', newer({ extra: 1 }), undefined, 'catalog.invalid', 'extra'],
  ['an older list', newer({ as_of: '2020-01-01' }), undefined, 'catalog.invalid', 'older'],
  ['a missing model', newer({ quick_start: 'a/b' }), undefined, 'catalog.invalid', 'no entry for a/b'],
  ['no entries', newer({ entries: [] }), undefined, 'catalog.invalid', 'entries'],
])('%s is refused, and nothing changes', async (_, text, sum, code, message) => {
  const { catalog } = open();
  const refused = await update(catalog, text, sum).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code, message: expect.stringContaining(message) });
  expect(catalog.isUpdated()).toBe(false);
});

test('a stored list that is older than the shipped one, or damaged, is not used', () => {
  const old = newer({ as_of: '2020-01-01' });
  for (const text of [old, '{'])
    expect(open(new Map([['catalog.list', text]])).catalog.isUpdated()).toBe(false);
});

test('what the hub says corrects an entry, in the next list too', async () => {
  const { catalog, reopened } = open();
  const model = catalog.quickStart();
  expect(catalog.find(model)?.unverified).toEqual(['size']);
  catalog.correct(model, { sizeBytes: 1234, licence: null });
  catalog.correct('a/unknown', { sizeBytes: 1, licence: null });
  expect(catalog.find(model)).toMatchObject({ size_bytes: 1234, licence: 'apache-2.0', unverified: [] });
  expect(reopened().find(model)).toMatchObject({ size_bytes: 1234 });
  await update(catalog, newer());
  expect(catalog.find(model)).toMatchObject({ size_bytes: 1234, name: 'Newer' });
});

test('names why a repository cannot be loaded', () => {
  const { catalog } = open();
  expect(catalog.refusal('prism-ml/Ternary-Bonsai-2-27B-gguf')).toMatch(/fork/);
  expect(catalog.refusal('a/b')).toBeNull();
});

test('downloads a list from an address, and refuses what is none', async () => {
  const responses: Record<string, [number, string]> = {
    '/list.json?a=1': [200, newer()],
    '/missing': [404, 'no'],
    '/large': [200, 'x'.repeat(2 ** 20 + 1)],
  };
  const server = createServer((req, res) => {
    const [status, body] = responses[req.url ?? ''] ?? [500, ''];
    res.writeHead(status).end(body);
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.close();
  });
  const { catalog } = open();
  const from = (path: string) =>
    catalog.update({ url: `http://127.0.0.1:${port}${path}`, sha256: sha256(newer()) }, signal);
  for (const [path, code] of [
    ['/missing', 'catalog.unreachable'],
    ['/large', 'catalog.invalid'],
  ] as const)
    expect(await from(path).catch((error: unknown) => error)).toMatchObject({ code });
  await from('/list.json?a=1');
  expect(firstName(catalog)).toBe('Newer');
  const dead = catalog.update({ url: 'http://127.0.0.1:9/x', sha256: sha256('') }, signal);
  expect(await dead.catch((error: unknown) => error)).toMatchObject({
    code: 'catalog.unreachable',
    message: expect.stringContaining('refused'),
  });
});
