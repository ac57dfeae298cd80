import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { countCores, physicalCores } from './cpu-cores.ts';
import { fakeMachine } from './testing/fake-machine.ts';

test('counts logical processors that share a core once', () => {
  expect(countCores(['0,4\n', '1,5\n', '0,4\n', '1,5\n'])).toBe(2);
  expect(countCores([null, null])).toBeNull();
});

test('never exceeds what this process may use, at least one', () => {
  const topology = (cpu: number) => ({
    [`sys/devices/system/cpu/cpu${cpu}/topology/core_cpus_list`]: `${cpu}\n`,
  });
  const many = fakeMachine(
    'no-gpu',
    Object.assign({}, ...Array.from({ length: 512 }, (_, cpu) => topology(cpu))),
  );
  expect(physicalCores(many.root)).toBe(availableParallelism());
  many.remove();
  const half = fakeMachine('no-gpu', { 'sys/fs/cgroup/cpu.max': '50000 100000\n' });
  expect(physicalCores(half.root)).toBe(1);
  half.remove();
  const one = fakeMachine('no-gpu', {
    'sys/devices/system/cpu/cpu0/topology/thread_siblings_list': '0-1\n',
    'sys/devices/system/cpu/cpu1/topology/thread_siblings_list': '0-1\n',
  });
  expect(physicalCores(one.root)).toBe(1);
  one.remove();
});
