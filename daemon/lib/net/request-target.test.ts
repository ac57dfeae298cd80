import { describe, expect, it } from 'vitest';
import { hasDotSegment, splitTarget } from './request-target.ts';

describe('splitTarget', () => {
  it.each([
    ['/v1/models?show_all=1', { path: '/v1/models', query: 'show_all=1', authority: null }],
    ['/api/config#/v1/models', { path: '/api/config', query: '', authority: null }],
    ['/api/config?/v1/models', { path: '/api/config', query: '/v1/models', authority: null }],
    ['http://any:1/api/auth/status?x', { path: '/api/auth/status', query: 'x', authority: 'any:1' }],
    ['HTTP://any', { path: '/', query: '', authority: 'any' }],
    ['http://any?x=1', { path: '/', query: 'x=1', authority: 'any' }],
    ['//v1/models', { path: '//v1/models', query: '', authority: null }],
    ['*', { path: '*', query: '', authority: null }],
  ])('splits %s', (raw, expected) => expect(splitTarget(raw)).toEqual(expected));

  it.each(['', 'v1/models', 'xhttp://h/v1', 'http://h/v1\n', 'ftp://x/', 'file:///etc/passwd', '?x'])(
    'refuses %j',
    (raw) => {
      expect(splitTarget(raw)).toBeNull();
    },
  );
});

describe('hasDotSegment', () => {
  it.each(['/.', '/..', '/v1/../x', '/./v1', '/v1/models/..'])('finds a dot segment in %s', (path) =>
    expect(hasDotSegment(path)).toBe(true),
  );
  it.each(['/v1/models/..%2fx', '/v1/models/a.b', '/.well', '/a/...'])('finds no dot segment in %s', (path) =>
    expect(hasDotSegment(path)).toBe(false),
  );
});
