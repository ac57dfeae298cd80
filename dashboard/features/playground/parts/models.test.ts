import { describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { able, canChat, chosenModel, type ModelGroup, matchingRows, modelsWith } from './models.ts';

const model = (id: string, over: Partial<V1ModelRecord> = {}): V1ModelRecord => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'svc',
  name: id,
  description: 'A model.',
  context_length: 4096,
  max_model_len: 4096,
  architecture: { input_modalities: ['text'], output_modalities: ['text'] },
  capabilities: {},
  pricing: { prompt: '0', completion: '0' },
  meta: { description: 'A model.' },
  _svc: { slot: null, state: 'ready' },
  ...over,
});
const alias = model('agent', { _svc: { slot: 'agent', state: 'ready', is_alias: true } });
const virtual = model('svc/agent', {
  _svc: { slot: 'agent', state: 'ready', is_alias: true, virtual: true },
});
const embed = model('bge', { capabilities: { embeddings: true } });
const speech = model('tts', { architecture: { input_modalities: ['text'], output_modalities: ['audio'] } });

describe('models of a mode', () => {
  it('omits models that cannot chat', () => {
    expect([alias, embed, speech, model('x', { capabilities: { chat: false } })].map(canChat)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  const names = (groups: readonly ModelGroup[]) =>
    groups.map(({ label, rows }) => [
      label,
      rows.map((row) => [row.model.id, ...row.others.map(({ id }) => id)]),
    ]);
  const of = (id: string, target: string, more: object = {}) =>
    model(id, { _svc: { slot: 'agent', state: 'ready', is_alias: true, resolves_to: target, ...more } });
  const house = [
    model('tiny'),
    model('other', { _svc: { slot: 'other', state: 'offline' } }),
    of('agent', 'tiny'),
    of('agent-hermes', 'tiny'),
    of('svc/agent', 'tiny', { virtual: true }),
    of('svc/npu', 'tiny', { virtual: true }),
    model('qwen3-32b', { owned_by: 'desk' }),
    model('tiny', { owned_by: 'desk' }),
  ];

  it('are one row per model, named by its slot, this machine before upstreams', () => {
    expect(names(modelsWith('chat', house))).toEqual([
      ['On this machine', [['agent', 'tiny', 'agent-hermes', 'svc/agent', 'svc/npu'], ['other']]],
      ['desk', [['qwen3-32b'], ['tiny']]],
    ]);
    expect(names(modelsWith('chat', [virtual, embed, alias]))).toEqual([
      ['On this machine', [['agent'], ['svc/agent']]],
    ]);
    expect(modelsWith('rerank', house)).toEqual([]);
  });

  it.each([
    [
      '',
      [
        ['agent', 'other'],
        ['qwen3-32b', 'tiny'],
      ],
    ],
    ['HERMES', [['agent-hermes']]],
    ['tiny', [['agent', 'tiny'], ['tiny']]],
    ['desk 32', [['qwen3-32b']]],
    ['nothing', []],
  ])('are found by every name and by their upstream: %j', (query, ids) => {
    const found = matchingRows(modelsWith('chat', house), query);
    expect(found.map(({ rows }) => rows.map((row) => row.model.id))).toEqual(ids);
  });

  it.each([
    ['the chosen one', [model('qwen'), alias], 'qwen', 'qwen', null],
    ['agent without a selection', [model('qwen'), alias], '', 'agent', null],
    ['the first one without agent', [model('qwen')], null, 'qwen', null],
    ['no fallback for a missing model', [model('qwen'), alias], 'removed', undefined, 'removed'],
    ['another name', house, 'svc/npu', 'svc/npu', null],
    ['none without models', [], 'x', undefined, null],
  ])('selects %s', (_, models, chosen, expected, unavailable) => {
    const choice = chosenModel(modelsWith('chat', models), chosen, 'agent');
    expect([choice.model?.id, choice.unavailable]).toEqual([expected, unavailable]);
  });

  it('reads every other ability from the record', () => {
    const voice = model('tts', { ...speech, capabilities: { speech: true } });
    expect([
      able(voice, 'speech'),
      able(voice, 'chat'),
      able(embed, 'embeddings'),
      able(embed, 'rerank'),
    ]).toEqual([true, false, true, false]);
    const ear = model('stt', { capabilities: { transcription: true } });
    expect([able(ear, 'transcription'), able(ear, 'chat')]).toEqual([true, false]);
  });
});
