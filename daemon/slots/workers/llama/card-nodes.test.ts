import { expect, it } from 'vitest';
import { canHaveCard } from './card-nodes.ts';

it.each([
  ['/dev/dri', true],
  ['/dev/nvidiactl', true],
  ['/dev/dxg', true],
  ['/dev/sda', false],
])('a Linux machine with %s may have a card: %s', (node, may) => {
  expect(canHaveCard('linux', (path) => path === node)).toBe(may);
});

it('elsewhere nothing is known, so it may', () => {
  expect(canHaveCard('darwin', () => false)).toBe(true);
});
