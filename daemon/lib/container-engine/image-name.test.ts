import { expect, test } from 'vitest';
import { cpuTimer } from '../testing/cpu-time.ts';
import { fullImageName, imageNameError } from './image-name.ts';

const digest = `sha256:${'0'.repeat(64)}`;

test.each([
  ['ubuntu', 'ubuntu:latest'],
  ['ghcr.io/ggml-org/llama.cpp:server', 'ghcr.io/ggml-org/llama.cpp:server'],
  ['localhost:5000/x', 'localhost:5000/x:latest'],
  [`vllm/vllm-openai@${digest}`, `vllm/vllm-openai@${digest}`],
])('%s is %s', (name, whole) => {
  expect(imageNameError(name)).toBeNull();
  expect(fullImageName(name)).toBe(whole);
});

test.each(['', '-rm', 'a b', '../../etc', 'x/../y', 'x?fromSrc=-', 'x:', 'x@sha256:1', 'a'.repeat(600)])(
  '"%s" is not an image name',
  (name) => expect(imageNameError(name)).not.toBeNull(),
);

test('rejects a hostile name in linear time', () => {
  const cpuMs = cpuTimer();
  imageNameError(`${'a.'.repeat(250)}!`);
  expect(cpuMs()).toBeLessThan(500);
});
