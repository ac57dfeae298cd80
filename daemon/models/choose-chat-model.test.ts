import { expect, test } from 'vitest';
import { chooseChatModel } from './choose-chat-model.ts';
import type { RegisteredModel } from './registered-model.ts';
import { contextOf } from './testing/context-of.ts';

const GIB = 1024 ** 3;
const model = (id: string, sizeGib: number, values: Partial<RegisteredModel> = {}) =>
  ({
    id,
    type: 'llm',
    format: 'gguf',
    demo: false,
    chatTemplate: true,
    sizeBytes: sizeGib * GIB,
    contextTrain: 4096,
    kvBytesPerToken: 0,
    contextMemory: null,
    ...values,
  }) as RegisteredModel;
const SMALL_CONTEXT = contextOf(20_480, { stateBytesPerSequence: 65_863_680, vocabulary: 248_320 });
const demo = model('demo', 0.001, { demo: true });
const choose = (models: RegisteredModel[], gib: number | null) =>
  chooseChatModel(models, gib === null ? null : gib * GIB)?.id ?? null;

test.each([
  ['the largest that fits', [model('a', 2), model('b', 7), model('c', 30)], 16, 'b'],
  ['unknown memory: the largest', [model('a', 2), model('c', 30)], null, 'c'],
  ['none fits: the smallest', [model('c', 30), model('b', 7)], 4, 'b'],
  ['the context window counts', [model('a', 2), model('b', 7, { kvBytesPerToken: 4 * 1024 ** 2 })], 16, 'a'],
  [
    'the sizes of the header count, not the upper bound',
    [model('a', 2), model('b', 7, { kvBytesPerToken: 4 * 1024 ** 2, contextMemory: SMALL_CONTEXT })],
    16,
    'b',
  ],
  ['prefers a real model to the demonstration model', [demo, model('a', 2)], 1, 'a'],
  ['only the demonstration model', [demo], 16, 'demo'],
  ['no chat model', [model('e', 1, { type: 'embedding' })], 16, null],
  [
    'prefers a model with a chat template to a larger one without',
    [model('a', 2), model('b', 7, { chatTemplate: false })],
    16,
    'a',
  ],
  [
    'a model without a chat template when there is no other',
    [model('b', 7, { chatTemplate: false })],
    16,
    'b',
  ],
] as const)('%s', (_, models, gib, expected) => {
  expect(choose([...models], gib)).toBe(expected);
});
