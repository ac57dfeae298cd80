import { expect, test } from 'vitest';
import { detailsText } from './audit-words.ts';

test.each([
  [{}, ''],
  [{ tier: 'admin', fingerprint: 'db6b6ab3' }, 'tier: admin; fingerprint: db6b6ab3'],
  [{ names: ['queueMax', 'bindHost'] }, 'names: queueMax, bindHost'],
  [{ names: [], count: 3, done: true }, 'names: none; count: 3; done: true'],
  [{ models: [{ slot: 'agent' }] }, 'models: [{"slot":"agent"}]'],
])('%j', (details, text) => expect(detailsText(details)).toBe(text));
