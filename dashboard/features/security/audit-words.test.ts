import { expect, test } from 'vitest';
import { detailsText } from './audit-words.ts';

test.each([
  [{}, ''],
  [{ tier: 'admin', fingerprint: 'db6b6ab3' }, 'tier: admin · fingerprint: db6b6ab3'],
  [{ names: ['queueMax', 'bindHost'] }, 'names: queueMax, bindHost'],
  [{ names: [], count: 3, done: true }, 'names: none · count: 3 · done: yes'],
  [{ asked: true, effective: false, source: 'file' }, 'requested: yes · in effect: no · source: file'],
  [{ key_env: 'X' }, 'key env: X'],
  [{ models: [{ slot: 'agent' }] }, 'models: [{"slot":"agent"}]'],
])('%j', (details, text) => expect(detailsText(details)).toBe(text));
