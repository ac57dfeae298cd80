import { expect, test } from 'vitest';
import { modelId, uniqueId } from './model-id.ts';

test.each([
  ['/m/Qwen3-4B-Q4_K_M.gguf', 'Qwen3-4B-Q4_K_M'],
  ['/m/Big-00001-of-00003.gguf', 'Big'],
  ['/m/my model (v2).gguf', 'my-model-v2'],
  ['/m/svc/agent.gguf', 'agent'],
  ['/m/модель.gguf', 'модель'],
  ['/m/模型一.gguf', '模型一'],
  ['/m/模型二.gguf', '模型二'],
  ['/m/ﾓﾃﾞﾙ.gguf', 'モデル'],
  ['/m/नमस्ते q4.gguf', 'नमस्ते-q4'],
  ['/m/Modèle (français).gguf', 'Modèle-français'],
  ['/m/نموذج-٣.gguf', 'نموذج-٣'],
  ['/m/😀.gguf', 'model'],
  ['/m/a😀b.gguf', 'a-b'],
  [`/m/${'𠀀'.repeat(200)}.gguf`, '𠀀'.repeat(128)],
  ['/m/.gguf', 'model'],
  [`/m/${'x'.repeat(200)}.gguf`, 'x'.repeat(128)],
])('%s', (path, id) => {
  expect(modelId(path)).toBe(id);
});

test('a taken id gets the next free number', () => {
  const used = new Set(['a', 'a-2']);
  expect(uniqueId('a', (id) => used.has(id))).toBe('a-3');
  expect(uniqueId('b', (id) => used.has(id))).toBe('b');
});
