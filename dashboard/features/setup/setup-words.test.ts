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
  workBadge,
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

test('describes a machine', () => {
  expect(machineSentences(machine)).toEqual([
    'A CPU with 8 cores and 32.0 GiB of RAM (20.0 GiB free).',
    'No GPU found. Models run on the CPU, which works well for small models.',
  ]);
  expect(machineSentences(withCard())[1]).toBe('A Card with 24.0 GiB: used for models.');
  expect(machineSentences(withCard({ unused_reason: 'No driver.' }))[1]).toBe(
    'A Card with 24.0 GiB is not used: No driver.',
  );
  expect(machineSentences(withCard({}, 'unified'))[1]).toContain('shares 24.0 GiB with the CPU');
});

test('groups omitted purposes by reason', () => {
  expect(
    leftOutSentences([
      { purpose: 'rerank', reason: 'memory' },
      { purpose: 'small', reason: 'memory' },
      { purpose: 'chat', reason: 'has_model' },
    ]),
  ).toEqual([
    'Not included: Reranking and Small fast model (not enough memory).',
    'Not included: Chat (already installed).',
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

test('describes download size, licence and memory use of a model', () => {
  expect(itemFacts(item, withCard())).toBe('2.0 GiB download · mit · uses 3.0 GiB of VRAM (A Card)');
  expect(itemFacts({ ...item, installed: 'x', pool: 'host' }, machine)).toBe(
    'already installed · mit · uses 3.0 GiB of RAM',
  );
  expect(downloadOf([item, item, { ...item, installed: 'x' }])).toBe(4 * GIB);
});

type Work = SetupView['work'][number];
const work = { phase: 'pulling', progress: null, pull: { state: 'running', bytes: 1, total: 4 } } as Work;

test('formats a download rate', () => {
  expect([paceWord(900_000), paceWord(31.4 * 1024 ** 2)]).toEqual(['under 1 MiB/s', '31 MiB/s']);
});

test('reports the phase and progress of a model', () => {
  expect([phaseWord(work), shareOf(work)]).toEqual(['Downloading', 25]);
  expect(phaseWord({ ...work, pull: { ...work.pull, state: 'paused' } as Work['pull'] })).toBe('Paused');
  expect(shareOf({ ...work, phase: 'asking' })).toBeNull();
  expect(shareOf({ ...work, phase: 'loading', progress: 0.5 })).toBe(50);
  expect(shareOf({ ...work, pull: { ...work.pull, total: 0 } as Work['pull'] })).toBeNull();
});

test.each([
  [[], null],
  [['ready', 'ready'], { tone: 'ok', word: 'Done' }],
  [['ready', 'pulling'], { tone: 'busy', word: '1 of 2 ready' }],
  [['ready', 'failed', 'loading'], { tone: 'attention', word: '1 of 3 ready, 1 failed' }],
  [
    ['ready', 'ready', 'failed', 'failed', 'failed', 'failed'],
    { tone: 'failed', word: '2 of 6 ready, 4 failed' },
  ],
  [['failed'], { tone: 'failed', word: '0 of 1 ready, 1 failed' }],
] as const)('is done only when every model is ready: %j', (phases, badge) => {
  expect(workBadge(phases.map((phase) => ({ ...work, phase })))).toEqual(badge);
});

test('describes an open network depending on keys and the remote-admin guard', () => {
  const words = (require_auth: boolean, has_admin_key: boolean, guard_remote_admin = true) =>
    networkWords({ require_auth, has_admin_key, guard_remote_admin });
  expect(words(true, true, false)).toContain('each of them needs a key');
  expect(words(false, true)).toContain('Changing settings from another machine needs the admin key');
  expect(words(false, false)).toContain('there is no key yet');
  expect(words(false, true, false)).toContain(
    'change settings, because [security].guard_remote_admin is off',
  );
  expect(words(false, true, false)).not.toContain('needs the admin key');
});
