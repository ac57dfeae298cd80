import { expect, test } from 'vitest';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { abilities, inOrder, modelLine, parameters } from './model-words.ts';

const model = (over: Partial<ModelWithMemory>): ModelWithMemory =>
  ({
    id: 'm',
    type: 'llm',
    format: 'gguf',
    quantization: 'Q4_K_M',
    size_bytes: 2 * 1024 ** 3,
    context_length: 40_960,
    projector: false,
    demo: false,
    ...over,
  }) as ModelWithMemory;

test('the line of a model leaves out what nobody knows', () => {
  expect(modelLine(model({ projector: true }))).toBe(
    'Chat · Q4_K_M · 2.0 GiB · 40,960 tokens · with projector',
  );
  const voice = { type: 'tts', format: 'onnx', quantization: null, context_length: null } as const;
  expect(modelLine(model({ ...voice, size_bytes: 0 }))).toBe('Text to speech · onnx');
});

test('abilities are those that are there', () => {
  expect(abilities({ tools: true, vision: false, reasoning: true })).toBe(
    'calls tools, thinks before it answers',
  );
  expect(abilities({ tools: false })).toBeNull();
});

test.each([
  [4_022_000_000, '4.0 billion'],
  [32_800_000_000, '33 billion'],
  [22_700_000, '23 million'],
  [5_000, '5,000'],
])('%d weights', (many, text) => expect(parameters(many)).toBe(text));

test('chat models stand first, the larger before the smaller', () => {
  const models = [
    model({ id: 'voice', type: 'tts', size_bytes: 9e9 }),
    model({ id: 'small', size_bytes: 1 }),
    model({ id: 'large', size_bytes: 2 }),
  ];
  expect(inOrder(models).map(({ id }) => id)).toEqual(['large', 'small', 'voice']);
});
