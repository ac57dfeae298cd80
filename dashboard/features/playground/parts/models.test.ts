import { describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { able, canChat, chosenModel, modelsWith } from './models.ts';

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

  it('are grouped, slots first, each in one group', () => {
    const groups = modelsWith('chat', [virtual, model('qwen'), embed, alias]);
    expect(groups.map((group) => [group.label, group.models.map(({ id }) => id)])).toEqual([
      ['Slot names', ['agent']],
      ['Models', ['qwen']],
      ['Virtual names', ['svc/agent']],
    ]);
  });

  it.each([
    ['the chosen one', [model('qwen'), alias], 'qwen', 'qwen', null],
    ['agent without a selection', [model('qwen'), alias], '', 'agent', null],
    ['the first one without agent', [model('qwen')], null, 'qwen', null],
    ['no fallback for a missing model', [model('qwen'), alias], 'removed', undefined, 'removed'],
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
