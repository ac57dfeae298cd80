import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../contract/errors.ts';
import { checkFraming, rawHeader } from './framing.ts';

const refused = (method: string, url: string, headers: string[]) => {
  try {
    checkFraming(method, url, headers);
    return null;
  } catch (error) {
    return (error as GatewayError).code;
  }
};

describe('checkFraming', () => {
  it('splits a proper request', () => {
    expect(checkFraming('GET', '/a?b', ['Host', 'h:1'])).toEqual({ path: '/a', query: 'b', authority: null });
  });

  it.each([
    ['no Host', 'GET', '/a', []],
    ['two Host headers', 'GET', '/a', ['Host', 'a', 'host', 'a']],
    ['an absolute target of another host', 'GET', 'http://b/a', ['Host', 'a']],
    ['a target without a slash', 'GET', 'a', ['Host', 'a']],
    ['* with GET', 'GET', '*', ['Host', 'a']],
  ])('refuses %s', (_name, method, url, headers) =>
    expect(refused(method, url, headers)).toBe('request.malformed'),
  );

  it('C12 takes an absolute target of the same host', () => {
    expect(checkFraming('GET', 'http://A:80/x', ['Host', 'a:80']).path).toBe('/x');
  });

  it('takes OPTIONS *', () => expect(refused('OPTIONS', '*', ['Host', 'a'])).toBeNull());
});

describe('rawHeader', () => {
  it('answers every value in order', () => {
    expect(rawHeader(['A', '1', 'b', '2', 'a', '3'], 'a')).toEqual(['1', '3']);
  });
});
