import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterModels, MAX_MODELS, readModelList, withoutOwnCalls } from './model-list.ts';

const ids = (value: unknown) => readModelList(value)?.map(({ id }) => id);
const bare = { type: null, context: null, created: null };

it('the load of a list does not contain the calls of this gateway', () => {
  const models = [
    { id: 'a', ...bare, othersActive: 5 },
    { id: 'b', ...bare },
  ];
  expect(withoutOwnCalls(models, 2)).toEqual([
    { id: 'a', ...bare, othersActive: 3 },
    { id: 'b', ...bare },
  ]);
  expect(withoutOwnCalls(models, 9)[0]).toMatchObject({ othersActive: 0 });
});

describe('readModelList', () => {
  it.each([
    [
      { object: 'list', data: [{ id: 'a', object: 'model', created: 5, owned_by: 'x' }] },
      { ...bare, created: 5 },
    ],
    [
      { data: [{ id: 'a', max_model_len: 8192, root: '/models/a', parent: null }] },
      { ...bare, context: 8192 },
    ],
    [{ data: [{ id: 'a', context_length: 131072, created: 0 }] }, { ...bare, context: 131072 }],
    [{ data: [{ id: 'a', meta: { n_ctx: 4096, n_ctx_train: 40960 } }] }, { ...bare, context: 4096 }],
    [
      { data: [{ id: 'a', max_input_tokens: 200000, max_output_tokens: 8192 }] },
      { ...bare, context: 200000 },
    ],
    [{ data: [{ id: 'a', model_info: { max_input_tokens: 9000 } }] }, { ...bare, context: 9000 }],
    [
      { data: [{ id: 'a', metadata: { max_request_context_length: 2222 } }] },
      { ...bare, context: 2222, isRayServe: true },
    ],
    [{ data: [{ id: 'a', max_input_tokens: '9000', metadata: null }] }, bare],
    [{ data: [{ id: 'a', max_input_tokens: 9000, max_model_len: 8192 }] }, { ...bare, context: 8192 }],
    [{ data: [{ id: 'a', type: 'embeddings' }] }, { ...bare, type: 'embedding' }],
    [{ data: [{ id: 'a', type: 'image' }] }, { ...bare, type: 'image' }],
    [{ data: [{ id: 'a', type: 'model' }] }, bare],
    [{ data: [{ id: 'a', mode: 'audio_transcription' }] }, { ...bare, type: 'stt' }],
    [{ data: [{ id: 'a', model_info: { mode: 'image_generation' } }] }, { ...bare, type: 'image' }],
    [{ data: [{ id: 'a', task: 'text-to-speech' }] }, { ...bare, type: 'tts' }],
    [{ data: [{ id: 'a', capabilities: { transcription: true } }] }, { ...bare, type: 'stt' }],
    [{ data: [{ id: 'a', capabilities: { chat: true, speech: true } }] }, bare],
    [{ data: [{ id: 'a', capabilities: ['completion', 'tools'] }] }, bare],
    [{ models: [{ name: 'a' }] }, bare],
    [[{ id: 'a' }], bare],
    [['a'], bare],
    [
      { data: [{ id: 'a', architecture: { output_modalities: ['embedding'] } }] },
      { ...bare, type: 'embedding' },
    ],
    [
      { data: [{ id: 'a', architecture: { input_modalities: ['audio'], output_modalities: ['text'] } }] },
      { ...bare, type: 'stt' },
    ],
    [{ data: [{ id: 'a', architecture: { output_modalities: ['text', 'image'] } }] }, bare],
    [{ data: [{ id: 'a', status: { value: 'unloaded', args: [] } }] }, { ...bare, loaded: false }],
    [{ data: [{ id: 'a', status: 'loaded' }] }, { ...bare, loaded: true }],
    [{ data: [{ id: 'a', status: 'deprecated' }] }, bare],
    [
      { data: [{ id: 'a', owned_by: 'svc', _svc: { slot: 's', state: 'offline', active: 0, queued: 0 } }] },
      { ...bare, loaded: false },
    ],
    [
      { data: [{ id: 'a', owned_by: 'svc', _svc: { slot: 's', state: 'serving', active: 2, queued: 3 } }] },
      { ...bare, loaded: true, othersActive: 5 },
    ],
  ])('%j', (value, expected) => expect(readModelList(value)).toEqual([{ id: 'a', ...expected }]));

  it.each([[null], [5], ['text'], [{}], [{ data: {} }], [{ error: { message: 'no' } }]])(
    '%j is not a model list',
    (value) => expect(readModelList(value)).toBeNull(),
  );

  it('skips invalid records, and accepts slashes, colons and any script', () => {
    const odd = [null, 5, {}, { id: 5 }, { id: ' ' }, { id: 'a\nb' }, { id: 'x'.repeat(257) }, []];
    expect(ids({ data: odd })).toEqual([]);
    const fine = ['org/model:free', 'größe/模型', 'a b', '../../etc', '__proto__'];
    expect(ids({ data: fine.map((id) => ({ id })) })).toEqual(fine);
  });

  it('an adapter has the window of its base model unless it names one', () => {
    const base = { id: 'base', max_model_len: 2048, parent: null };
    const adapter = (id: string, more: object = {}) => ({ id, max_model_len: null, parent: 'base', ...more });
    const models = [
      adapter('a'),
      base,
      adapter('b', { max_model_len: 512 }),
      adapter('c', { parent: 'gone' }),
    ];
    expect(readModelList({ data: models })?.map(({ id, context }) => [id, context])).toEqual([
      ['a', 2048],
      ['base', 2048],
      ['b', 512],
      ['c', null],
    ]);
  });

  it('lists an id once and no more than the bound', () => {
    expect(ids({ data: [{ id: 'a' }, { id: 'a' }] })).toEqual(['a']);
    const many = Array.from({ length: MAX_MODELS + 500 }, (_, index) => ({ id: `m${index}` }));
    expect(ids(many)).toHaveLength(MAX_MODELS);
  });

  it('lists only the own models of another svc-gateway, not its aliases and not those of its upstreams', () => {
    const record = (id: string, more: object = {}, owner = 'svc') => ({
      id,
      owned_by: owner,
      _svc: { slot: 'agent', state: 'ready', ...more },
    });
    expect(
      ids({
        data: [
          record('qwen'),
          record('agent', { is_alias: true }),
          record('svc/agent', { is_alias: true, virtual: true }),
          record('gpt-5', {}, 'openrouter'),
        ],
      }),
    ).toEqual(['qwen']);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const model of readModelList({ data: [value, value] }) ?? [])
          expect(model.id.trim()).not.toBe('');
      }),
    );
  });
});

it('wantedModels follows the patterns of the file', () => {
  const models = readModelList(['a/x', 'a/y', 'b/x']) ?? [];
  const names = (include: string[], exclude: string[]) =>
    filterModels(models, { include, exclude }).map(({ id }) => id);
  expect(names([], [])).toEqual(['a/x', 'a/y', 'b/x']);
  expect(names(['a/*'], ['*/y'])).toEqual(['a/x']);
});
