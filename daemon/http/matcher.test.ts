import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routeRows } from '../contract/routes.ts';
import { createMatcher } from './matcher.ts';

const match = createMatcher();
const id = (method: string, path: string) => match(method, path).route?.id ?? null;

describe('createMatcher', () => {
  it('finds every row by an example of its path', () => {
    for (const row of routeRows()) {
      const path = row.path.replace(/[:*](\w+)/g, 'example');
      expect(id(row.method, path), `${row.method} ${path}`).toBe(row.id);
    }
  });

  it('runs the row of GET for HEAD', () => {
    expect(id('HEAD', '/v1/models')).toBe('v1.models');
    expect(id('HEAD', '/v1/models/a/b')).toBe('v1.model');
    expect(id('HEAD', '/api/auth/login')).toBeNull();
  });

  it('methods are case-sensitive, as paths are', () => {
    expect(id('get', '/v1/models')).toBeNull();
    expect(id('Post', '/api/slots/x/load')).toBeNull();
    expect(match('get', '/v1/models')).toEqual({ route: null, params: {}, allow: ['HEAD', 'GET'] });
  });

  it.each([
    ['/V1/models'],
    ['//v1/models'],
    ['/./v1/models'],
    ['/v1/models/../../api/config'],
    ['/api/auth/status/'],
    ['/api/%61uth/status'],
    ['/api/auth/status%00'],
    ['/api/auth/status;a=b'],
    ['/api\\auth\\status'],
  ])('C04/C06 %s matches no route', (path) => expect(id('GET', path)).toBeNull());

  it.each([
    ['GET', '/v1/models/', 'hint.slash.get'],
    ['POST', '/v1/chat/completions/', 'hint.slash.post'],
    ['GET', '/v1//models', 'hint.slashes.get'],
    ['POST', '/v1//chat/completions', 'hint.slashes.post'],
    ['GET', '/v1/v1/models', 'hint.twice.get'],
    ['POST', '/v1/v1/messages', 'hint.twice.post'],
  ])('C04/C06 %s %s matches only the row that names the right address', (method, path, row) => {
    expect(id(method, path)).toBe(row);
    expect(match(method, path).route).toMatchObject({ auth: 'client', kind: 'hint' });
  });

  it('C08/C09 model ids span slashes and are decoded once', () => {
    expect(match('GET', '/v1/models/org/name').params).toEqual({ model_id: 'org/name' });
    expect(match('GET', '/v1/models/svc%2Fagent').params).toEqual({ model_id: 'svc/agent' });
    expect(match('GET', '/v1/models/..%2f..%2fapi').params).toEqual({ model_id: '../../api' });
    expect(match('GET', '/v1/models/%252e%252e').params).toEqual({ model_id: '%2e%2e' });
  });

  it('C15 lists the methods of a path for another method', () => {
    expect(match('POST', '/v1/models')).toMatchObject({ route: null });
    expect([...match('POST', '/v1/models').allow].sort()).toEqual(['GET', 'HEAD']);
    expect(match('PUT', '/nowhere').allow).toEqual([]);
  });

  it('the delete rows of memory win over the row with a parameter', () => {
    expect(id('POST', '/api/memory/delete')).toBe('memory.delete.many');
    expect(id('DELETE', '/api/memory/delete')).toBe('memory.delete.one');
  });

  it('never throws and is deterministic for any target', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (tail) => {
        const path = `/${tail}`;
        expect(match('GET', path).route?.id).toBe(match('GET', path).route?.id);
      }),
      { numRuns: 500 },
    );
  });
});
