import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CpuProfile, hotFunctions } from './profile.ts';

const root = join(import.meta.dirname, '..', '..');
const node = (id: number, functionName: string, file = '', lineNumber = 0): CpuProfile['nodes'][number] => ({
  id,
  callFrame: { functionName, url: file && `file://${root}/${file}`, lineNumber },
});

test('functions by self time: samples of one function are summed, idle time is ignored, the hottest come first', () => {
  const profile: CpuProfile = {
    nodes: [
      node(1, '(idle)'),
      node(2, 'scan', 'daemon/lib/scan.ts', 9),
      node(3, 'send', 'daemon/x.ts', 0),
      node(4, 'scan', 'daemon/lib/scan.ts', 9),
      node(5, '', 'daemon/x.ts', 4),
    ],
    samples: [2, 1, 3, 4, 5],
    timeDeltas: [0, 300, 5_000, 100, 500, 999],
  };
  expect(hotFunctions(profile, 2)).toEqual([
    { where: '(anonymous)  daemon/x.ts:5', selfMs: 0.999, share: 999 / 1899 },
    { where: 'scan  daemon/lib/scan.ts:10', selfMs: 0.8, share: 800 / 1899 },
  ]);
});
