import { expect, test } from 'vitest';
import { supportsVision } from './supports-vision.ts';

const withProjector = { capabilities: { vision: false }, projector: true };
const on = (engine: string, runner = 'process') => ({ engine, runner });

test.each([
  [undefined, on('llama-server'), false],
  [{ capabilities: { vision: true } }, undefined, true],
  [withProjector, undefined, false],
  [withProjector, on('llama-server'), true],
  [withProjector, on('llama-server', 'container'), true],
  [withProjector, on('llama-server', 'attach'), false],
  [withProjector, on('embedded', 'worker'), false],
  [{ projector: false }, on('llama-server'), false],
])('%j on %j supports vision: %j', (model, slot, expected) =>
  expect(supportsVision(model, slot)).toBe(expected),
);
