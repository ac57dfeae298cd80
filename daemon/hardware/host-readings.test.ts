import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HostReader, type ReadSubjects } from './host-readings.ts';

const SIGNAL = new AbortController().signal;
const VALUES = {
  load: { currentLoad: 12 },
  temperature: { main: 40 },
  memory: { swaptotal: 8, swapused: 2 },
  network: [],
  disks: [{ fs: '/dev/sda', type: 'ext4', size: 10, available: 5, mount: '/' }],
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Records the runs of the child. Subjects in `blocked` never finish. */
function recorded(blocked: readonly string[] = []) {
  const runs: string[] = [];
  const read: ReadSubjects = async (subjects) => {
    runs.push(subjects.join('+'));
    if (subjects.some((subject) => blocked.includes(subject))) await new Promise(() => {});
    return {
      values: Object.fromEntries(
        subjects.map((subject) => [subject, VALUES[subject as keyof typeof VALUES]]),
      ),
    };
  };
  return { runs, reader: new HostReader('', SIGNAL, read) };
}

test('reads nothing before the first refresh', () => {
  const { runs, reader } = recorded();
  expect(reader.last()).toEqual({
    cpuBusyPercent: null,
    cpuTemperatureC: null,
    swap: null,
    disks: null,
    networks: null,
  });
  expect(runs).toEqual([]);
});

test('reads each group at its own interval', async () => {
  const { runs, reader } = recorded();
  await reader.refresh();
  expect(reader.last()).toMatchObject({
    cpuBusyPercent: 12,
    cpuTemperatureC: 40,
    swap: { totalBytes: 8, usedBytes: 2 },
  });
  expect(reader.last().disks).toHaveLength(1);
  expect(reader.last().networks).toEqual([]);
  expect(runs).toEqual(['load+temperature+memory', 'network', 'disks']);
  vi.advanceTimersByTime(4999);
  await reader.refresh();
  expect(runs).toHaveLength(3);
  vi.advanceTimersByTime(1);
  await reader.refresh();
  expect(runs.slice(3)).toEqual(['load+temperature+memory']);
  vi.advanceTimersByTime(60_000);
  await reader.refresh();
  expect(runs.slice(4)).toEqual(['load+temperature+memory', 'network', 'disks']);
});

test('does not wait longer than 1.5 s for a hanging child, and starts no second one', async () => {
  const { runs, reader } = recorded(['disks']);
  const refreshed = reader.refresh();
  await vi.advanceTimersByTimeAsync(1500);
  await refreshed;
  expect(reader.last()).toMatchObject({ cpuBusyPercent: 12, disks: null, networks: [] });
  await vi.advanceTimersByTimeAsync(120_000);
  const again = reader.refresh();
  await vi.advanceTimersByTimeAsync(1500);
  await again;
  expect(runs.filter((run) => run === 'disks')).toHaveLength(1);
});

test('starts no second child while the kernel blocks the first', async () => {
  let release = () => {};
  let runs = 0;
  const reader = new HostReader('', SIGNAL, async (subjects) => {
    if (!subjects.includes('disks')) return { values: {} };
    runs += 1;
    return { values: {}, leftBehind: new Promise<void>((resolve) => (release = resolve)) };
  });
  await reader.refresh();
  vi.advanceTimersByTime(60_000);
  const second = reader.refresh();
  await vi.advanceTimersByTimeAsync(1500);
  await second;
  expect(runs).toBe(1);
  release();
  await vi.advanceTimersByTimeAsync(0);
  await reader.refresh();
  expect(runs).toBe(2);
});

test('forgets values that are not refreshed', async () => {
  const { reader } = recorded();
  await reader.refresh();
  vi.advanceTimersByTime(15_001);
  expect(reader.last()).toMatchObject({ cpuBusyPercent: null, swap: null });
  expect(reader.last().disks).toHaveLength(1);
});
