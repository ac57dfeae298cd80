import { expect, it } from 'vitest';
import { canHaveCard } from './gpu-nodes.ts';

it.each([
  ['/dev/dri', true],
  ['/dev/nvidiactl', true],
  ['/dev/dxg', true],
  ['/dev/sda', false],
])('a Linux machine with %s can have a GPU: %s', (node, may) => {
  expect(canHaveCard('linux', (path) => path === node)).toBe(may);
});

it('other platforms can always have a GPU', () => {
  expect(canHaveCard('darwin', () => false)).toBe(true);
});
