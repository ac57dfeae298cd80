/** Memory over a real port: hybrid search with a real embedding model, text search without one, admin-only deletes. */
import { expect, it } from 'vitest';
import { type AuditRow, type MemoryFound, MemorySearchResponse } from '../contract/system.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, waitForSlotState } from './harness/slots.ts';

const CAT = 'the cat sat on the mat';
const FAR = 'quantum flux xylophone';

const gateway = new OneGateway(() =>
  startLocked({
    models: { vectors: tinyEmbed({ size: 64 }) },
    files: {
      'config/config.toml': '[security]\nmemory_class = "client"\n',
      'config/slots/embed.toml': 'model = "vectors"\nautoload = false\n',
    },
  }),
);

const post = (path: string, body: object, key = CLIENT_KEY) => send(gateway, 'POST', path, { key, body });
const find = async (query: string): Promise<MemoryFound> =>
  MemorySearchResponse.parse((await post('/api/memory/search', { query })).json());

it('adding and listing load no model; search uses embeddings once the model is loaded', async () => {
  for (const text of [CAT, FAR]) expect((await post('/api/memory', { text })).status).toBe(200);
  expect((await send(gateway, 'GET', '/api/memory', { key: CLIENT_KEY })).status).toBe(200);
  expect((await slot(gateway, 'embed', ADMIN_KEY)).state).toBe('offline');
  expect(texts(await find('mat'))).toContain(CAT);
  await post('/api/slots/embed/load', {}, ADMIN_KEY);
  await waitForSlotState(gateway, 'embed', 'ready', ADMIN_KEY);
  // The query shares no word with the texts: only vectors can find them.
  await until(async () => texts(await find('kitten rug')).length === 2, 'memories to have vectors');
  const found = await find('a cat is on a mat');
  expect(found.mode).toBe('hybrid');
  expect(texts(found)[0]).toBe(CAT);
});

it('caps: text, query, limit', async () => {
  expect((await post('/api/memory', { text: 'x'.repeat(65_537) })).status).toBe(422);
  expect((await post('/api/memory', { text: '' })).status).toBe(422);
  expect((await post('/api/memory/search', { query: 'x', limit: 101 })).status).toBe(422);
  for (const offset of ['-1', 'many', '1e9', ''])
    expect((await send(gateway, 'GET', `/api/memory?offset=${offset}`, { key: CLIENT_KEY })).status).toBe(
      422,
    );
});

it('deletes are for admins; a deleted memory is found neither by text nor by vector', async () => {
  const { id } = (await find(CAT)).memories[0] as { id: string };
  expect((await send(gateway, 'DELETE', `/api/memory/${id}`, { key: CLIENT_KEY })).status).toBe(403);
  expect((await send(gateway, 'DELETE', '/api/memory?confirm=all', { key: CLIENT_KEY })).status).toBe(403);
  expect((await post('/api/memory/delete', { ids: [id] })).status).toBe(403);
  expect((await post('/api/memory/delete', { ids: [id] }, ADMIN_KEY)).json()).toEqual({ deleted: 1 });
  expect(texts(await find(CAT))).not.toContain(CAT);
  expect((await send(gateway, 'DELETE', '/api/memory?confirm=all', { key: ADMIN_KEY })).json()).toEqual({
    deleted: 1,
  });
  expect((await find(FAR)).memories).toEqual([]);
  const { entries } = (await send(gateway, 'GET', '/api/audit', { key: ADMIN_KEY })).json<{
    entries: AuditRow[];
  }>();
  const deletes = entries.filter(({ action }) => action === 'memory.delete');
  expect(deletes.map(({ details }) => details)).toEqual([
    { what: 'all', deleted: 1 },
    { what: 'many', deleted: 1 },
  ]);
  expect(JSON.stringify(deletes)).not.toContain('cat');
});

const texts = (found: MemoryFound): string[] => found.memories.map(({ text }) => text);

it('a blank text is rejected; optional fields may be null', async () => {
  for (const text of [' ', '\n\t ', '\u3000']) {
    const { status, text: responseText } = await post('/api/memory', { text });
    expect([status, responseText]).toEqual([422, expect.stringContaining('must not be blank')]);
  }
  const added = await post('/api/memory', { text: ' spaced ', tags: null });
  expect([added.status, added.json()]).toEqual([
    200,
    expect.objectContaining({ text: ' spaced ', tags: [] }),
  ]);
  const { id } = added.json<{ id: string }>();
  const found = await post('/api/memory/search', { query: 'spaced', limit: null });
  expect([found.status, found.text]).toEqual([200, expect.stringContaining(id)]);
});
