import { describe, expect, it } from 'vitest';
import { ExposureResponse } from '../contract/auth.ts';
import { routeRows } from '../contract/routes.ts';
import { exposureOf } from './exposure.ts';

const view = (memoryClass: 'admin' | 'client' = 'admin') =>
  exposureOf({
    rows: routeRows(),
    memoryClass,
    enforcement: { require_auth: true, source: 'file' },
    refusedOrigins: [],
    listener: { bindHost: '0.0.0.0', port: 8080, loopback: false },
  });

describe('exposure', () => {
  it('C01 names every route once, in the order of the table, the catch-all last', () => {
    const { rules } = view();
    expect(rules.map(({ id }) => id)).toEqual([...routeRows().map(({ id }) => id), 'catch-all']);
    expect(rules.at(-1)).toMatchObject({ auth_class: 'admin', pattern: '*', methods: ['*'], kind: 'api' });
    expect([rules.at(-1)?.label, rules.at(-1)?.summary]).toEqual([
      'Anything else',
      expect.stringContaining('deny'),
    ]);
    const label = (id: string) => rules.find((rule) => rule.id === id)?.label;
    expect([label('v1.model'), label('slot.plan')]).toEqual([
      'GET /v1/models/{model_id}',
      'GET /api/slots/{name}/plan',
    ]);
    expect(ExposureResponse.parse(view())).toEqual(view());
  });

  it('lists HEAD with GET, and the pattern, kind and summary of the table', () => {
    for (const row of routeRows()) {
      const rule = view().rules.find(({ id }) => id === row.id);
      expect(rule?.methods).toEqual(row.method === 'GET' ? ['GET', 'HEAD'] : [row.method]);
      expect(rule).toMatchObject({ pattern: row.path, kind: row.kind, summary: row.summary });
      expect(row.auth === 'memory' || rule?.auth_class === row.auth).toBe(true);
    }
  });

  it('C25 shows the memory routes with their current class, the hardened ones always as admin', () => {
    const classOf = (id: string, memoryClass: 'admin' | 'client') =>
      view(memoryClass).rules.find((rule) => rule.id === id)?.auth_class;
    for (const id of ['memory.search', 'memory.add', 'memory.list', 'memory.get']) {
      expect([classOf(id, 'admin'), classOf(id, 'client')]).toEqual(['admin', 'client']);
    }
    for (const id of ['memory.delete.one', 'memory.delete.all', 'memory.delete.many']) {
      expect([classOf(id, 'admin'), classOf(id, 'client')]).toEqual(['admin', 'admin']);
    }
  });

  it('the open allowlist is that of the specification', () => {
    expect(
      view()
        .open_allowlist.map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual([
      'GET /api/auth/status',
      'GET /api/config/urls',
      'GET /api/health',
      'GET /api/health/system',
      'GET /api/metrics/prometheus',
      'GET /v1/models',
      'GET /v1/models/{model_id}',
      'POST /api/auth/login',
      'POST /api/auth/logout',
    ]);
  });

  it('explains the classes and shows enforcement and listener', () => {
    expect(view().classes.map(({ name }) => name)).toEqual(['open', 'bootstrap', 'client', 'admin']);
    expect(view()).toMatchObject({
      enforcement: { require_auth: true, source: 'file' },
      listener: { bind_host: '0.0.0.0', port: 8080, loopback: false },
    });
  });
});
