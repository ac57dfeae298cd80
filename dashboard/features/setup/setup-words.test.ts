import { expect, test } from 'vitest';
import type { SetupItemView, SetupView } from '../../../daemon/contract/setup.ts';
import {
  downloadOf,
  itemFacts,
  leftOutSentences,
  machineSentences,
  networkWords,
  paceWord,
  phaseWord,
  shareOf,
} from './setup-words.ts';

const GIB = 1024 ** 3;
type Machine = NonNullable<SetupView['hardware']>;
const cpu = {
  id: 'cpu',
  kind: 'cpu',
  name: 'A CPU',
  pool: 'host',
  unused_reason: null,
} as Machine['devices'][number];
const card = {
  id: '0000:01:00.0',
  kind: 'gpu',
  name: 'A Card',
  pool: '0000:01:00.0',
  memory_total_bytes: 24 * GIB,
  unused_reason: null,
} as Machine['devices'][number];
const machine = {
  host: { cpu: 'A CPU', cores_physical: 8, memory_total_bytes: 32 * GIB, memory_available_bytes: 20 * GIB },
  devices: [cpu],
  pools: [{ id: 'host', kind: 'host', total_bytes: 32 * GIB }],
} as unknown as Machine;
const withCard = (over: Partial<typeof card> = {}, kind = 'device'): Machine =>
  ({
    ...machine,
    devices: [cpu, { ...card, ...over }],
    pools: [...machine.pools, { id: card.id, kind, total_bytes: 24 * GIB }],
  }) as Machine;

test('a machine in plain words', () => {
  expect(machineSentences(machine)).toEqual([
    'A CPU with 8 cores and 32.0 GiB of memory, 20.0 GiB of it free.',
    'No graphics card was found: models run on the processor, which is fine for small ones.',
  ]);
  expect(machineSentences(withCard())[1]).toBe('A Card with 24.0 GiB: models run on it.');
  expect(machineSentences(withCard({ unused_reason: 'No driver.' }))[1]).toBe(
    'A Card with 24.0 GiB is not used: No driver.',
  );
  expect(machineSentences(withCard({}, 'unified'))[1]).toContain('shares 24.0 GiB with the processor');
});

test('what is left out stands together by its reason', () => {
  expect(
    leftOutSentences([
      { purpose: 'rerank', reason: 'memory' },
      { purpose: 'small', reason: 'memory' },
      { purpose: 'chat', reason: 'has_model' },
    ]),
  ).toEqual([
    'Left out: Sorting results and Small helper, because there is no memory left for them.',
    'Left out: Chat, because there is a model for it already.',
  ]);
  expect(leftOutSentences([])).toEqual([]);
});

const item = {
  size_bytes: 2 * GIB,
  installed: null,
  licence: 'mit',
  needed_bytes: 3 * GIB,
  pool: card.id,
} as SetupItemView;

test('a model with its size, its licence and its place', () => {
  expect(itemFacts(item, withCard())).toBe(
    '2.0 GiB to fetch · licence mit · takes 3.0 GiB of the memory of A Card',
  );
  expect(itemFacts({ ...item, installed: 'x', pool: 'host' }, machine)).toBe(
    'is here already · licence mit · takes 3.0 GiB of the memory of this machine',
  );
  expect(downloadOf([item, item, { ...item, installed: 'x' }])).toBe(4 * GIB);
});

type Work = SetupView['work'][number];
const work = { phase: 'pulling', progress: null, pull: { state: 'running', bytes: 1, total: 4 } } as Work;

test('how quick it comes', () => {
  expect([paceWord(900_000), paceWord(31.4 * 1024 ** 2)]).toEqual([
    'under 1 MiB per second',
    '31 MiB per second',
  ]);
});

test('how far a model is', () => {
  expect([phaseWord(work), shareOf(work)]).toEqual(['Fetching', 25]);
  expect(phaseWord({ ...work, pull: { ...work.pull, state: 'paused' } as Work['pull'] })).toBe('Paused');
  expect(shareOf({ ...work, phase: 'asking' })).toBeNull();
  expect(shareOf({ ...work, phase: 'loading', progress: 0.5 })).toBe(50);
  expect(shareOf({ ...work, pull: { ...work.pull, total: 0 } as Work['pull'] })).toBeNull();
});

test('what an open network means goes by keys and by the guard of remote changes', () => {
  const words = (require_auth: boolean, has_admin_key: boolean, guard_remote_admin = true) =>
    networkWords({ require_auth, has_admin_key, guard_remote_admin });
  expect(words(true, true, false)).toContain('every one of them needs a key');
  expect(words(false, true)).toContain('Changing anything from another machine needs the admin key');
  expect(words(false, false)).toContain('there is no key yet');
  expect(words(false, true, false)).toContain(
    'change everything here, because [security].guard_remote_admin is off',
  );
  expect(words(false, true, false)).not.toContain('needs the admin key');
});
