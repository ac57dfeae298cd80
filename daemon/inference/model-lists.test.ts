import { describe, expect, it, test } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { anthropicModel, anthropicModelList, codexModels } from './model-lists.ts';

const record = (id: string, more: Partial<V1ModelRecord> = {}): V1ModelRecord => ({
  id,
  object: 'model',
  created: 1_760_000_000,
  owned_by: 'svc',
  name: `The ${id}`,
  description: 'A model.',
  context_length: 32_768,
  max_model_len: 32_768,
  architecture: { input_modalities: ['text'], output_modalities: ['text'] },
  capabilities: { chat: true },
  pricing: { prompt: '0', completion: '0' },
  meta: { description: 'A model.' },
  _svc: { slot: 'agent', state: 'ready' },
  ...more,
});
const LIST = ['a', 'b', 'c', 'd'].map((id) => record(id));
const vectors = record('vectors', { capabilities: { embeddings: true } });
const page = { limit: 1000, afterId: null, beforeId: null };

test('a model in the form of Anthropic', () => {
  expect(anthropicModel(record('a'))).toMatchObject({
    type: 'model',
    id: 'a',
    display_name: 'The a',
    created_at: '2025-10-09T08:53:20.000Z',
    max_input_tokens: 32_768,
  });
});

describe("Anthropic's list", () => {
  it.each([
    ['everything', {}, ['a', 'b', 'c', 'd'], false],
    ['the first page', { limit: 3 }, ['a', 'b', 'c'], true],
    ['the next page', { limit: 3, afterId: 'c' }, ['d'], false],
    ['a page that ends with the list', { limit: 2, afterId: 'b' }, ['c', 'd'], false],
    ['after the last', { afterId: 'd' }, [], false],
    ['after an unknown id', { afterId: 'x' }, [], false],
    ['before an id', { limit: 2, beforeId: 'd' }, ['b', 'c'], true],
    ['before the second', { limit: 2, beforeId: 'b' }, ['a'], false],
    ['before the first', { beforeId: 'a' }, [], false],
    ['before an unknown id', { beforeId: 'x' }, [], false],
  ])('%s', (_, more, ids, hasMore) => {
    const { data, has_more, first_id, last_id } = anthropicModelList(LIST, { ...page, ...more });
    expect(data.map(({ id }) => id)).toEqual(ids);
    expect([has_more, first_id, last_id]).toEqual([hasMore, ids[0] ?? null, ids.at(-1) ?? null]);
  });

  it('has chat models only', () => {
    expect(anthropicModelList([vectors], page)).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });
});

describe("Codex's list", () => {
  it('has chat models only, with name and window', () => {
    const seeing = { input_modalities: ['text', 'image'], output_modalities: ['text'] };
    const models = codexModels([vectors, record('a'), record('b', { architecture: seeing })]);
    expect(models).toMatchObject([
      { slug: 'a', display_name: 'The a', context_window: 32_768, priority: 0, input_modalities: ['text'] },
      { slug: 'b', priority: 1, input_modalities: ['text', 'image'] },
    ]);
  });

  it('has every field that Codex requires', () => {
    const [model] = codexModels([record('a')]);
    for (const field of [
      'slug',
      'display_name',
      'description',
      'supported_reasoning_levels',
      'shell_type',
      'visibility',
      'supported_in_api',
      'priority',
      'upgrade',
      'base_instructions',
      'supports_reasoning_summaries',
      'support_verbosity',
      'default_verbosity',
      'apply_patch_tool_type',
      'truncation_policy',
      'supports_parallel_tool_calls',
      'experimental_supported_tools',
    ]) {
      expect(model).toHaveProperty(field);
    }
    expect(model?.base_instructions).not.toBe('');
  });
});
