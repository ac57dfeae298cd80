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

test('omits unknown values from the line of a model', () => {
  expect(modelLine(model({ projector: true }))).toBe('Chat · Q4_K_M · 2.0 GiB · 40,960 tokens · vision');
  const voice = { type: 'tts', format: 'onnx', quantization: null, context_length: null } as const;
  expect(modelLine(model({ ...voice, size_bytes: 0 }))).toBe('Text to speech · onnx');
});

test('lists capabilities that are present', () => {
  expect(abilities({ tools: true, vision: false, reasoning: true })).toBe('tools, reasoning');
  expect(abilities({ tools: false })).toBeNull();
});

test.each([
  [4_022_000_000, '4.0 B'],
  [32_800_000_000, '33 B'],
  [22_700_000, '23 M'],
  [5_000, '5,000'],
])('%d parameters', (many, text) => expect(parameters(many)).toBe(text));

test('sorts chat models first, larger before smaller', () => {
  const models = [
    model({ id: 'voice', type: 'tts', size_bytes: 9e9 }),
    model({ id: 'small', size_bytes: 1 }),
    model({ id: 'large', size_bytes: 2 }),
  ];
  expect(inOrder(models).map(({ id }) => id)).toEqual(['large', 'small', 'voice']);
});
