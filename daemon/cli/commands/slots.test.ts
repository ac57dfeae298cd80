import { expect, it } from 'vitest';
import type { SlotRecord } from '../../contract/slots.ts';
import { slotTable } from './slots.ts';

const slot = (name: string, more: Partial<SlotRecord> = {}): SlotRecord => ({
  ...{ name, enabled: true, auto: false, type: 'llm', engine: 'embedded', runner: 'worker', model: 'tiny' },
  ...{ demo: false, state: 'ready', since: 0, device: 'cpu', degraded: null, context: 512, parallel: 2 },
  ...{ threads: 1, pid: 7, active: 0, queued: 0, requests: 0, tokens_per_second: null, memory_bytes: null },
  ...{ pinned: false, waiting_for: [], memory: null, failure: null },
  ...more,
});

const notesOf = (slots: readonly SlotRecord[]): string[] =>
  slotTable(slots, 200)
    .split('\n')
    .filter((line) => line.startsWith('! '));

const failure = { reason: 'The file is damaged.', failures: 1, parked: false, retry_at: null };

it.each<[string, Partial<SlotRecord>, string[]]>([
  ['nothing', {}, []],
  ['a failure', { state: 'error', failure }, ['! agent: The file is damaged.']],
  [
    'a change of its file',
    { pending: ['context'] },
    ['! agent: changed in the slot file, applies at the next start: context (svcctl slots restart agent)'],
  ],
  [
    'several changes of its file',
    { pending: ['context', 'parallel'] },
    [
      '! agent: changed in the slot file, applies at the next start: context, parallel (svcctl slots restart agent)',
    ],
  ],
])('below the table of slots is %s', (_, more, notes) => {
  expect(notesOf([slot('embed'), slot('agent', more)])).toEqual(notes);
});
