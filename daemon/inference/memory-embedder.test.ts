import { expect, test } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import type { EmbedRequest } from '../memory/embedder.ts';
import type { Slots } from '../slots/slots.ts';
import { encodeName } from './forward/headers.ts';
import type { InternalCall } from './internal.ts';
import { memoryEmbedder } from './memory-embedder.ts';
import { internalReply } from './testing/internal-reply.ts';

const slotsWith = (more: Partial<Parameters<typeof slotRecord>[0]> | null): Pick<Slots, 'get'> => ({
  get: (name) =>
    name === 'embed' && more !== null
      ? slotRecord({ name, type: 'embedding', model: 'minilm', ...more })
      : undefined,
});
const request: EmbedRequest = {
  texts: ['a', 'b'],
  tier: 'client',
  limitMs: 5_000,
  background: false,
  signal: new AbortController().signal,
};

/** An embedder whose calls get this answer, and the calls. */
function setUp(body: unknown, headers: Record<string, string> = {}) {
  const calls: InternalCall[] = [];
  const embedder = memoryEmbedder(async (call) => {
    calls.push(call);
    return internalReply(body, { headers });
  }, slotsWith({}));
  return { embedder, calls };
}

test.each([
  ['ready', {}, { model: 'minilm', loaded: true }],
  ['not loaded', { state: 'offline' }, { model: 'minilm', loaded: false }],
  ['disabled', { enabled: false }, null],
  ['of another type', { type: 'llm' }, null],
  ['without a model', { model: null }, null],
  ['absent', null, null],
] as const)('the model of a slot that is %s', (_, more, expected) => {
  const { embedder } = setUp({});
  expect(embedder.current()).toEqual({ model: 'minilm', loaded: true });
  expect(memoryEmbedder(async () => internalReply({}), slotsWith(more)).current()).toEqual(expected);
});

test('texts become vectors by the route of all callers', async () => {
  const data = [{ embedding: [1, 2] }, { embedding: [3, 4] }];
  const { embedder, calls } = setUp({ data }, { 'x-svc-model': encodeName('模型') });
  expect(await embedder.embed(request)).toEqual({
    ...{
      model: '模型',
      vectors: [
        [1, 2],
        [3, 4],
      ],
    },
  });
  await embedder.embed({ ...request, background: true });
  expect(calls).toMatchObject([
    { path: '/v1/embeddings', tier: 'client', priority: 'interactive', limitMs: 5_000 },
    { priority: 'batch' },
  ]);
  expect(JSON.parse(String(calls[0]?.body))).toEqual({
    ...{ model: 'embed', input: ['a', 'b'], encoding_format: 'float' },
  });
});

test('an answer without the name of its model has that of the slot', async () => {
  const { embedder } = setUp({ data: [{ embedding: [1] }, {}] });
  expect(await embedder.embed(request)).toEqual({ model: 'embed', vectors: [[1], []] });
});

test.each([[{ data: [{ embedding: [1] }] }], [{}], [[]], [null]])(
  'an answer without one vector for each text is an error: %j',
  async (body) => {
    await expect(setUp(body).embedder.embed(request)).rejects.toMatchObject({ code: 'upstream.error' });
  },
);
