import { type GgufFileInfo, GgufInsights } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { LLAMA_ARCHITECTURES, loadObjection } from './llama-architectures.ts';

test('the library knows every listed architecture, and none of another name', async () => {
  const isKnown = async (architecture: string): Promise<boolean> => {
    const metadata = { general: { architecture } };
    const info = { metadata, architectureMetadata: {}, fullTensorInfo: [], sourceData: [] };
    return (await GgufInsights.from(info as unknown as GgufFileInfo)).isSupportedByLlamaCpp;
  };
  const unknown: string[] = [];
  for (const architecture of LLAMA_ARCHITECTURES)
    if (!(await isKnown(architecture))) unknown.push(architecture);
  expect(unknown).toEqual([]);
  expect(await isKnown('glm5_next')).toBe(false);
});

test.each([
  ['llama', [], null],
  ['glm5_next', [], 'does not know the architecture glm5_next'],
  ['qwen35', [142], 'does not know the tensor type 142'],
  ['qwen35', [142, 143], 'does not know the tensor types 142, 143'],
])('%s with unknown types %j: %s', (architecture, unknownTypes, expected) => {
  const objection = loadObjection({ architecture, unknownTypes });
  if (expected === null) expect(objection).toBeNull();
  else expect(objection).toContain(expected);
});
