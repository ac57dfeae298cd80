import { describe, expect, it } from 'vitest';
import type { OfferedCredentials } from './credentials.ts';
import { createKeys } from './keys.ts';
import { resolveTier } from './tier.ts';

const keys = createKeys({ admin: () => 'A', client: () => 'C' });
const verifier = {
  verifySession: (cookie: string) => (cookie === 'good' ? 'id1' : null),
  verifyKey: keys.tierOf,
};
const resolve = (offered: Partial<OfferedCredentials>) =>
  resolveTier(
    {
      cookies: [],
      bearer: null,
      apiKey: null,
      subprotocol: null,
      xApiKey: null,
      unreadXApiKey: false,
      ...offered,
    },
    verifier,
  );

describe('tier resolution', () => {
  it('T01 a valid cookie wins over a client key', () => {
    expect(resolve({ cookies: ['good'], bearer: 'C' })).toEqual({
      tier: 'admin',
      via: 'cookie',
      sessionId: 'id1',
    });
  });

  it('T02 an invalid cookie is ignored', () => {
    expect(resolve({ cookies: ['bad'], bearer: 'A' })).toMatchObject({
      tier: 'admin',
      via: 'bearer',
      sessionId: null,
    });
    expect(resolve({ cookies: ['bad'], bearer: 'C' })).toMatchObject({ tier: 'client', via: 'bearer' });
    expect(resolve({ cookies: ['bad'] })).toMatchObject({ tier: 'anon', via: 'none' });
  });

  it.each([
    ['first', ['good', 'bad']],
    ['second', ['bad', 'good']],
    ['fourth', ['bad', '', 'other', 'good']],
  ])('a valid cookie counts when it is the %s', (_, cookies) => {
    expect(resolve({ cookies, bearer: 'C' })).toMatchObject({
      tier: 'admin',
      via: 'cookie',
      sessionId: 'id1',
    });
  });

  it('without a valid cookie among several, the keys decide', () => {
    expect(resolve({ cookies: ['bad', 'other'], bearer: 'C' })).toMatchObject({ tier: 'client' });
    expect(resolve({ cookies: ['bad', 'other'] })).toMatchObject({ tier: 'anon' });
  });

  it('T03 a wrong Bearer falls through to api_key', () => {
    expect(resolve({ bearer: 'x', apiKey: 'A' })).toMatchObject({ tier: 'admin', via: 'api_key' });
    expect(resolve({ bearer: 'x', apiKey: 'C' })).toMatchObject({ tier: 'client', via: 'api_key' });
    expect(resolve({ bearer: 'x', apiKey: 'y' })).toMatchObject({ tier: 'anon' });
  });

  it('T04 the first valid credential decides, not the strongest', () => {
    expect(resolve({ bearer: 'C', apiKey: 'A' })).toMatchObject({ tier: 'client', via: 'bearer' });
    expect(resolve({ apiKey: 'C', subprotocol: 'A' })).toMatchObject({ tier: 'client', via: 'api_key' });
  });

  it('T17 the subprotocol comes after the three carriers of the specification', () => {
    expect(resolve({ subprotocol: 'C' })).toMatchObject({ tier: 'client', via: 'subprotocol' });
    expect(resolve({ bearer: 'x', apiKey: 'x', subprotocol: 'A' })).toMatchObject({
      tier: 'admin',
      via: 'subprotocol',
    });
  });

  it('T08 with both keys unset only a session has a tier above anon', () => {
    const none = createKeys({ admin: () => '', client: () => '  ' });
    for (const text of ['', '  ', 'undefined', 'null', 'false']) {
      const keys = { bearer: text, apiKey: text, subprotocol: text, xApiKey: text };
      const offered = { cookies: [], ...keys, unreadXApiKey: false };
      expect(resolveTier(offered, { ...verifier, verifyKey: none.tierOf }).tier).toBe('anon');
    }
  });

  it('x-api-key comes after the three carriers of the specification, with the same tiers', () => {
    expect(resolve({ xApiKey: 'C' })).toMatchObject({ tier: 'client', via: 'x-api-key' });
    expect(resolve({ xApiKey: 'A' })).toMatchObject({ tier: 'admin', via: 'x-api-key' });
    expect(resolve({ bearer: 'C', xApiKey: 'A' })).toMatchObject({ tier: 'client', via: 'bearer' });
    expect(resolve({ apiKey: 'C', xApiKey: 'A' })).toMatchObject({ tier: 'client', via: 'api_key' });
    expect(resolve({ cookies: ['good'], xApiKey: 'C' })).toMatchObject({ tier: 'admin', via: 'cookie' });
    expect(resolve({ cookies: ['bad'], bearer: 'x', apiKey: 'y', xApiKey: 'C' }).tier).toBe('client');
    expect(resolve({ xApiKey: 'x' })).toMatchObject({ tier: 'anon', refused: 'wrong-key' });
  });

  it('T13 x-api-key of a route that does not read it grants no access; sent alone it is named', () => {
    expect(resolve({ unreadXApiKey: true })).toEqual({
      tier: 'anon',
      via: 'none',
      sessionId: null,
      refused: 'x-api-key',
    });
    expect(resolve({ unreadXApiKey: true, bearer: 'C' }).refused).toBeUndefined();
  });

  it.each([
    ['a wrong Bearer key', { bearer: 'x' }, 'wrong-key'],
    ['a wrong api_key', { apiKey: 'x' }, 'wrong-key'],
    ['a wrong subprotocol key', { subprotocol: 'x' }, 'wrong-key'],
    ['two wrong keys', { bearer: 'x', apiKey: 'y' }, 'wrong-key'],
    ['a wrong Bearer key beside x-api-key', { bearer: 'x', unreadXApiKey: true }, 'wrong-key'],
    ['a wrong key beside an expired session', { cookies: ['bad'], bearer: 'x' }, 'wrong-key'],
    ['an expired session', { cookies: ['bad'] }, undefined],
    ['no credential', {}, undefined],
    ['a valid key after a wrong one', { bearer: 'x', apiKey: 'C' }, undefined],
  ])('%s', (_, offered, refused) => expect(resolve(offered).refused).toBe(refused));

  it('checks no key when the cookie is valid', () => {
    const checkedKeys: string[] = [];
    const verifyKey = (offered: string) => {
      checkedKeys.push(offered);
      return null;
    };
    const keys = { bearer: 'A', apiKey: null, subprotocol: null, xApiKey: 'A' };
    const offered = { cookies: ['good'], ...keys, unreadXApiKey: false };
    expect(resolveTier(offered, { ...verifier, verifyKey }).tier).toBe('admin');
    expect(checkedKeys).toEqual([]);
  });
});
