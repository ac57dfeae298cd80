import { expect, it } from 'vitest';
import { factWord, gapsByReason } from './evidence-words.ts';

it('a known fact has a label, an unknown one its own name', () => {
  expect(factWord('memory_used_bytes')).toBe('Memory in use');
  expect(factWord('odd')).toBe('odd');
});

it('groups gaps by reason, in order', () => {
  const unread = [
    { fact: 'busy_percent', reason: 'xpu-smi is not installed' },
    { fact: 'driver', reason: 'no driver is bound to it' },
    { fact: 'power_w', reason: 'xpu-smi is not installed' },
  ];
  expect(gapsByReason({ unread })).toEqual([
    { reason: 'xpu-smi is not installed', facts: ['load', 'power'] },
    { reason: 'no driver is bound to it', facts: ['driver'] },
  ]);
});
