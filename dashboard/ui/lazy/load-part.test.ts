import { expect, test } from 'vitest';
import type { ServedVersion } from '../../api/dashboard-version.ts';
import { isNetworkFailure, loadPart } from './load-part.ts';

const LOST = new TypeError('Failed to fetch dynamically imported module: http://host/assets/slots-1.js');

/** A part that comes at the try of this number. */
function partAt(number: number, failure: Error = LOST) {
  let tries = 0;
  const load = async (): Promise<string> => {
    tries += 1;
    if (tries < number) throw failure;
    return 'the part';
  };
  return { load, tries: () => tries };
}

function deps(served: ServedVersion = 'same', leaves = false) {
  const waits: number[] = [];
  const left: ServedVersion[] = [];
  return {
    waits,
    left,
    pause: async (ms: number) => void waits.push(ms),
    fetchServedVersion: async () => served,
    reloadPage: (which: ServedVersion) => {
      left.push(which);
      return leaves;
    },
  };
}

test.each([1, 2, 3, 4])('loads a part at try %i', async (number) => {
  const part = partAt(number);
  const given = deps();
  await expect(loadPart(part.load, given)).resolves.toBe('the part');
  expect([part.tries(), given.waits.length, given.left]).toEqual([number, number - 1, []]);
});

test('reloads the page for a part that never loads, else reports what the gateway serves', async () => {
  for (const served of ['same', 'newer', 'silent'] as const) {
    const given = deps(served);
    await expect(loadPart(partAt(9).load, given)).rejects.toMatchObject({ name: 'MissingPart', served });
    expect(given.left).toEqual([served]);
    expect(given.waits).toEqual([300, 1000, 2500]);
  }
});

test('reports no failure while the page reloads', async () => {
  const outcome = loadPart(partAt(9).load, deps('newer', true)).then(
    () => 'ended',
    () => 'failed',
  );
  await expect(Promise.race([outcome, new Promise((done) => setTimeout(done, 20, 'waits'))])).resolves.toBe(
    'waits',
  );
});

test('does not retry a part that throws', async () => {
  const part = partAt(9, new ReferenceError('x is not defined'));
  await expect(loadPart(part.load, deps())).rejects.toThrow('x is not defined');
  expect(part.tries()).toBe(1);
});

test.each([
  'Failed to fetch dynamically imported module: http://h/a.js',
  'error loading dynamically imported module: http://h/a.js',
  'Importing a module script failed.',
  'Unable to preload CSS for http://h/a.css',
])('network failure: %s', (message) => expect(isNetworkFailure(new Error(message))).toBe(true));
