import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { createAuthEvents } from './auth-events.ts';

describe('news', () => {
  it('reaches listeners, the event stream and the audit trail', () => {
    const rows: unknown[] = [];
    const bus = new EventBus<GatewayEvents>();
    const events: unknown[] = [];
    bus.subscribe((entry) => events.push(entry.payload));
    const { log } = recordedLog();
    const news = createAuthEvents({
      store: { audit: { add: (row) => rows.push(row), list: () => [] } },
      log,
      bus,
    });
    const heard: string[] = [];
    const stop = news.onChange((change) => heard.push(change));
    news.emit('rotate', 'client');
    news.emit('settings');
    stop();
    news.emit('logout');
    expect(heard).toEqual(['rotate', 'settings']);
    expect(events).toEqual([{ change: 'rotate', tier: 'client' }, { change: 'logout' }]);
    news.audit('auth.require', undefined, { on: true });
    news.audit('auth.rotate', { tier: 'admin', address: '10.0.0.1' }, {});
    expect(rows).toEqual([
      { action: 'auth.require', tier: null, address: null, details: { on: true } },
      { action: 'auth.rotate', tier: 'admin', address: '10.0.0.1', details: {} },
    ]);
  });

  it('a failing audit trail or listener does not affect others', () => {
    const { log, lines } = recordedLog();
    const fail = () => {
      throw new Error('disk full');
    };
    const news = createAuthEvents({ store: { audit: { add: fail, list: () => [] } }, log });
    const heard: string[] = [];
    news.onChange(fail);
    news.onChange((change) => heard.push(change));
    news.audit('auth.logout', undefined, {});
    news.emit('logout');
    expect(heard).toEqual(['logout']);
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(2);
  });
});
