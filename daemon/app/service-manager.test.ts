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

function startManager(
  parts: { check?: () => void; isDelivered?: boolean; env?: Record<string, string> } = {},
) {
  const messages: string[] = [];
  let status = '1 slot';
  const become = (text: string) => {
    status = text;
  };
  const manager = serviceManager({
    env: parts.env ?? { WATCHDOG_USEC: '3000000' },
    log,
    check: parts.check ?? (() => {}),
    status: () => status,
    notify: async (assignments) => {
      messages.push(assignments.join(' | '));
      return parts.isDelivered ?? true;
    },
  });
  return { manager, messages, become };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const feeds = (messages: readonly string[]) =>
  messages.filter((assignments) => assignments.startsWith('WATCHDOG=1')).length;

describe('notifications to a service manager', () => {
  it('reports readiness, then feeds the watchdog at a third of its limit', async () => {
    const { manager, messages } = startManager();
    await pass(10_000);
    expect(messages).toEqual([]);
    manager.ready();
    await pass(3_500);
    expect(messages[0]).toBe('READY=1 | STATUS=1 slot');
    expect(feeds(messages)).toBe(3);
  });

  it('sends no heartbeat while the check throws, and resumes once it passes', async () => {
    let isHealthy = false;
    const check = () => {
      if (!isHealthy) throw new Error('out of reach');
    };
    const { manager, messages } = startManager({ check });
    manager.ready();
    await pass(5_000);
    expect(feeds(messages)).toBe(0);
    isHealthy = true;
    await pass(1_000);
    expect(feeds(messages)).toBe(1);
  });

  it('sends no heartbeat to a unit without a watchdog', async () => {
    const { manager, messages } = startManager({ env: {} });
    manager.ready();
    await pass(60_000);
    expect(messages).toHaveLength(1);
  });

  it('sends one line for many status changes, and none for an unchanged status', async () => {
    const { manager, messages, become } = startManager({ env: {} });
    manager.ready();
    manager.changed();
    await pass(5_000);
    expect(messages).toHaveLength(1);
    become('2 slots');
    for (let i = 0; i < 100; i++) manager.changed();
    await pass(5_000);
    expect(messages.slice(1)).toEqual(['STATUS=2 slots']);
  });

  it('announces start and end of a reload, also of a failed one', async () => {
    const { manager, messages } = startManager({ env: {} });
    const order: string[] = [];
    await manager.reload(async () => void order.push(String(messages.length)));
    expect(order).toEqual(['1']);
    expect(messages[0]).toMatch(/^RELOADING=1 \| MONOTONIC_USEC=\d+$/);
    expect(messages[1]).toBe('READY=1 | STATUS=1 slot');
    await expect(manager.reload(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(messages).toHaveLength(4);
  });

  it('a stop extends its time limit', async () => {
    const { manager, messages } = startManager({ env: {} });
    manager.stopping(25_000);
    await pass(0);
    expect(messages[0]).toContain('STOPPING=1 | EXTEND_TIMEOUT_USEC=25000000');
  });

  it('logs one line for a manager that does not respond', async () => {
    const warn = vi.spyOn(log, 'warn');
    const { manager } = startManager({ isDelivered: false });
    manager.ready();
    await pass(10_000);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('reloads without a manager', async () => {
    const manager = serviceManager({ env: {}, log, check: () => {}, status: () => '' });
    const work = vi.fn(async () => {});
    manager.ready();
    manager.stopping(1);
    await manager.reload(work);
    expect(work).toHaveBeenCalledTimes(1);
  });
});
