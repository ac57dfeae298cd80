import { expect, test } from 'vitest';
import { parseMeminfo, readHostMemory } from './host-memory.ts';
import { fakeMachine } from './testing/fake-machine.ts';

test('reads total and available in bytes', () => {
  expect(parseMeminfo('MemTotal:       24684096 kB\nMemFree: 1 kB\nMemAvailable:   23099132 kB\n')).toEqual({
    total: 24684096 * 1024,
    available: 23099132 * 1024,
  });
  expect(parseMeminfo('nonsense')).toBeNull();
});

test('a control group limit is the total, and its free bytes are available', () => {
  const machine = fakeMachine('no-gpu', {
    'proc/self/cgroup': '0::/\n',
    'sys/fs/cgroup/memory.max': '1000000\n',
    'sys/fs/cgroup/memory.current': '400000\n',
  });
  expect(readHostMemory(machine.root)).toEqual({
    totalBytes: 1000000,
    availableBytes: 600000,
    limitedBy: 'cgroup',
  });
  machine.remove();
});

test("ignores a limit above the machine's memory", () => {
  const machine = fakeMachine('no-gpu', { 'sys/fs/cgroup/memory.max': '99000000000\n' });
  expect(readHostMemory(machine.root)).toMatchObject({ totalBytes: 24684096 * 1024, limitedBy: 'host' });
  machine.remove();
});
