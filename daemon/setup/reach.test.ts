import { expect, test } from 'vitest';
import { choiceOf, isRefused, type ReachInput, reachView } from './reach.ts';

test.each([
  ['127.0.0.1', 'machine'],
  ['localhost', 'machine'],
  ['::1', 'machine'],
  ['0.0.0.0', 'network'],
  ['::', 'network'],
  ['::0', 'network'],
  ['192.168.1.5', 'other'],
  ['127.0.0.2', 'other'],
])('%s is %s', (bindHost, choice) => {
  expect(choiceOf(bindHost)).toBe(choice);
});

const input: ReachInput = {
  bindHost: { value: '127.0.0.1', source: 'default' },
  listener: { bindHost: '127.0.0.1', port: 8080 },
  hasInheritedSocket: false,
  requireAuth: false,
  isExposed: false,
  addresses: ['192.168.1.5'],
};
const viewOf = (over: Partial<ReachInput>) => reachView({ ...input, ...over });

test.each([
  ['nothing chosen', {}, { choice: 'machine', restart_needed: false, held_by: null, public: false }],
  [
    'the network chosen, before the restart',
    { bindHost: { value: '0.0.0.0', source: 'file' } },
    { choice: 'network', restart_needed: true, held_by: null, next_bind_host: '0.0.0.0' },
  ],
  [
    'the environment sets the address',
    { bindHost: { value: '127.0.0.1', source: 'env' } },
    { choice: 'machine', restart_needed: false, held_by: 'environment' },
  ],
  [
    'a socket unit sets the address, regardless of the choice',
    {
      bindHost: { value: '127.0.0.1', source: 'file' },
      listener: { bindHost: '0.0.0.0', port: 80 },
      hasInheritedSocket: true,
    },
    { choice: 'network', restart_needed: false, held_by: 'socket', next_bind_host: '0.0.0.0', port: 80 },
  ],
  ['on the internet without keys', { isExposed: true }, { public: true }],
  ['on the internet with keys', { isExposed: true, requireAuth: true }, { public: false }],
])('%s', (_, over, expected) => {
  expect(viewOf(over as Partial<ReachInput>)).toMatchObject(expected);
});

test('only the network without keys, on a machine that has an address on the internet, is refused', () => {
  const all = (['machine', 'network'] as const).flatMap((choice) =>
    [false, true].flatMap((requireAuth) =>
      [false, true].map((exposed) => ({ choice, requireAuth, isExposed: exposed })),
    ),
  );
  expect(all.filter(({ choice, ...input }) => isRefused(choice, input))).toEqual([
    { choice: 'network', requireAuth: false, isExposed: true },
  ]);
});
