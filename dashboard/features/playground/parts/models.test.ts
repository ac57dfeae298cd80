import { describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { able, canChat, chosenModel, modelsThat } from './models.ts';

const model = (id: string, over: Partial<V1ModelRecord> = {}): V1ModelRecord => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'svc',
  name: id,
  context_length: 4096,
  max_model_len: 4096,
  architecture: { input_modalities: ['text'], output_modalities: ['text'] },
  capabilities: {},
  pricing: { prompt: '0', completion: '0' },
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
  it('leaves out what cannot answer a chat', () => {
    expect([alias, embed, speech, model('x', { capabilities: { chat: false } })].map(canChat)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('are grouped, slots first, each in one group', () => {
    const groups = modelsThat('chat', [virtual, model('qwen'), embed, alias]);
    expect(groups.map((group) => [group.label, group.models.map(({ id }) => id)])).toEqual([
      ['Slot names', ['agent']],
      ['Models', ['qwen']],
      ['Virtual names', ['svc/agent']],
    ]);
  });

  it('a chosen model that is gone falls back to agent, then to the first', () => {
    expect(chosenModel(modelsThat('chat', [model('qwen'), alias]), 'qwen', 'agent')?.id).toBe('qwen');
    expect(chosenModel(modelsThat('chat', [model('qwen'), alias]), 'gone', 'agent')?.id).toBe('agent');
    expect(chosenModel(modelsThat('chat', [model('qwen')]), null, 'agent')?.id).toBe('qwen');
    expect(chosenModel([], 'x', 'agent')).toBeNull();
  });

  it('every other ability is what the record says', () => {
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
