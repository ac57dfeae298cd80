import { describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../../../daemon/contract/models.ts';
import { canChat, chatModels, chosenModel } from './chat-models.ts';

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

describe('chat models', () => {
  it('leaves out what cannot answer a chat', () => {
    expect([alias, embed, speech, model('x', { capabilities: { chat: false } })].map(canChat)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('are grouped, slots first, each in one group', () => {
    const groups = chatModels([virtual, model('qwen'), embed, alias]);
    expect(groups.map((group) => [group.label, group.models.map(({ id }) => id)])).toEqual([
      ['Slot names', ['agent']],
      ['Models', ['qwen']],
      ['Virtual names', ['svc/agent']],
    ]);
  });

  it('a chosen model that is gone falls back to agent, then to the first', () => {
    expect(chosenModel(chatModels([model('qwen'), alias]), 'qwen')?.id).toBe('qwen');
    expect(chosenModel(chatModels([model('qwen'), alias]), 'gone')?.id).toBe('agent');
    expect(chosenModel(chatModels([model('qwen')]), null)?.id).toBe('qwen');
    expect(chosenModel([], 'x')).toBeNull();
  });
});
