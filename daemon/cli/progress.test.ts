import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { bar, progressLine } from './progress.ts';

const slot = (more: Partial<SlotRecord>) =>
  ({ name: 'agent', state: 'starting', model: 'tiny', ...more }) as SlotRecord;

describe('bar', () => {
  it.each([
    [null, ''],
    [undefined, ''],
    [0, `[${'-'.repeat(24)}]   0 %`],
    [0.5, `[${'#'.repeat(12)}${'-'.repeat(12)}]  50 %`],
    [0.999, `[${'#'.repeat(24)}]  99 %`],
    [7, `[${'#'.repeat(24)}] 100 %`],
  ])('%s', (share, text) => expect(bar(share)).toBe(text));
});

describe('progressLine', () => {
  it('shows the state of the slot, and fits the terminal', () => {
    expect(progressLine(slot({}), 3_000, 80)).toBe('agent: starting  3.0 s  tiny');
    expect(progressLine(slot({ progress: 0.25 }), 3_000, 80)).toContain('25 %  3.0 s');
    expect(progressLine(slot({ waiting_for: ['utility'] }), 0, 80)).toMatch(/^agent: waits for utility/);
    expect(progressLine(slot({ model: 'x'.repeat(200) }), 0, 40)).toHaveLength(40);
  });
});
