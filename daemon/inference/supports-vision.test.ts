import { expect, test } from 'vitest';
import { supportsVision } from './supports-vision.ts';

const beside = { capabilities: { vision: false }, projector: true };
const on = (engine: string, runner = 'process') => ({ engine, runner });

test.each([
  [undefined, on('llama-server'), false],
  [{ capabilities: { vision: true } }, undefined, true],
  [beside, undefined, false],
  [beside, on('llama-server'), true],
  [beside, on('llama-server', 'container'), true],
  [beside, on('llama-server', 'attach'), false],
  [beside, on('embedded', 'worker'), false],
  [{ projector: false }, on('llama-server'), false],
])('%j on %j sees: %j', (model, slot, expected) => expect(supportsVision(model, slot)).toBe(expected));
