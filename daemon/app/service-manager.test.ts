import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../lib/log.ts';
import { serviceManager, watchdogPeriod } from './service-manager.ts';

const log = silentLog();

describe('watchdogPeriod', () => {
  it.each([
    [{}, null],
    [{ WATCHDOG_USEC: '' }, null],
    [{ WATCHDOG_USEC: 'soon' }, null],
    [{ WATCHDOG_USEC: '0' }, null],
    [{ WATCHDOG_USEC: '60000000' }, 20_000],
    [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '7' }, 20_000],
    [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '8' }, null],
    [{ WATCHDOG_USEC: '1' }, 1],
  ])('%j', (env, period) => {
    expect(watchdogPeriod(env, 7)).toBe(period);
  });
});

function following(parts: { check?: () => void; taken?: boolean; env?: Record<string, string> } = {}) {
  const told: string[] = [];
  let status = '1 slot';
  const become = (text: string) => {
    status = text;
  };
  const manager = serviceManager({
    env: parts.env ?? { WATCHDOG_USEC: '3000000' },
    log,
    check: parts.check ?? (() => {}),
    status: () => status,
    notify: async (words) => {
      told.push(words.join(' | '));
      return parts.taken ?? true;
    },
  });
  return { manager, told, become };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const feeds = (told: readonly string[]) => told.filter((words) => words.startsWith('WATCHDOG=1')).length;

describe('the life that a service manager is told', () => {
  it('begins with readiness, and only then the watchdog is fed at a third of its limit', async () => {
    const { manager, told } = following();
    await pass(10_000);
    expect(told).toEqual([]);
    manager.ready();
    await pass(3_500);
    expect(told[0]).toBe('READY=1 | STATUS=1 slot');
    expect(feeds(told)).toBe(3);
  });

  it('a check that throws feeds nothing, and feeds again once it passes', async () => {
    let well = false;
    const check = () => {
      if (!well) throw new Error('out of reach');
    };
    const { manager, told } = following({ check });
    manager.ready();
    await pass(5_000);
    expect(feeds(told)).toBe(0);
    well = true;
    await pass(1_000);
    expect(feeds(told)).toBe(1);
  });

  it('a unit without a watchdog gets no signs of life', async () => {
    const { manager, told } = following({ env: {} });
    manager.ready();
    await pass(60_000);
    expect(told).toHaveLength(1);
  });

  it('many changes of the status are one line, and none when it reads the same', async () => {
    const { manager, told, become } = following({ env: {} });
    manager.ready();
    manager.changed();
    await pass(5_000);
    expect(told).toHaveLength(1);
    become('2 slots');
    for (let i = 0; i < 100; i++) manager.changed();
    await pass(5_000);
    expect(told.slice(1)).toEqual(['STATUS=2 slots']);
  });

  it('a reload is framed, also one that fails', async () => {
    const { manager, told } = following({ env: {} });
    const order: string[] = [];
    await manager.reload(async () => void order.push(String(told.length)));
    expect(order).toEqual(['1']);
    expect(told[0]).toMatch(/^RELOADING=1 \| MONOTONIC_USEC=\d+$/);
    expect(told[1]).toBe('READY=1 | STATUS=1 slot');
    await expect(manager.reload(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(told).toHaveLength(4);
  });

  it('a stop asks for the time it may take', async () => {
    const { manager, told } = following({ env: {} });
    manager.stopping(25_000);
    await pass(0);
    expect(told[0]).toContain('STOPPING=1 | EXTEND_TIMEOUT_USEC=25000000');
  });

  it('a manager that does not listen costs one line of the log', async () => {
    const warn = vi.spyOn(log, 'warn');
    const { manager } = following({ taken: false });
    manager.ready();
    await pass(10_000);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('without a manager a reload is still done', async () => {
    const manager = serviceManager({ env: {}, log, check: () => {}, status: () => '' });
    const work = vi.fn(async () => {});
    manager.ready();
    manager.stopping(1);
    await manager.reload(work);
    expect(work).toHaveBeenCalledTimes(1);
  });
});
