import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { createAuthEvents } from './auth-events.ts';

describe('auth events', () => {
  it('reach listeners, the event stream and the audit trail', () => {
    const rows: unknown[] = [];
    const bus = new EventBus<GatewayEvents>();
    const events: unknown[] = [];
    bus.subscribe((entry) => events.push(entry.payload));
    const { log } = recordedLog();
    const authEvents = createAuthEvents({
      store: { audit: { add: (row) => rows.push(row), list: () => [] } },
      log,
      bus,
    });
    const received: string[] = [];
    const stop = authEvents.onChange((change) => received.push(change));
    authEvents.emit('rotate', 'client');
    authEvents.emit('settings');
    stop();
    authEvents.emit('logout');
    expect(received).toEqual(['rotate', 'settings']);
    expect(events).toEqual([{ change: 'rotate', tier: 'client' }, { change: 'logout' }]);
    authEvents.audit('auth.require', undefined, { on: true });
    authEvents.audit('auth.rotate', { tier: 'admin', address: '10.0.0.1' }, {});
    expect(rows).toEqual([
      { action: 'auth.require', tier: null, address: null, details: { on: true } },
      { action: 'auth.rotate', tier: 'admin', address: '10.0.0.1', details: {} },
    ]);
  });

  it('are not affected by a failing audit trail or listener', () => {
    const { log, lines } = recordedLog();
    const fail = () => {
      throw new Error('disk full');
    };
    const authEvents = createAuthEvents({ store: { audit: { add: fail, list: () => [] } }, log });
    const received: string[] = [];
    authEvents.onChange(fail);
    authEvents.onChange((change) => received.push(change));
    authEvents.audit('auth.logout', undefined, {});
    authEvents.emit('logout');
    expect(received).toEqual(['logout']);
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(2);
  });
});
