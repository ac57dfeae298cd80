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
    { cookie: null, bearer: null, apiKey: null, subprotocol: null, xApiKey: false, ...offered },
    verifier,
  );

describe('tier resolution', () => {
  it('T01 a valid cookie wins over a client key', () => {
    expect(resolve({ cookie: 'good', bearer: 'C' })).toEqual({
      tier: 'admin',
      via: 'cookie',
      sessionId: 'id1',
    });
  });

  it('T02 an invalid cookie is ignored', () => {
    expect(resolve({ cookie: 'bad', bearer: 'A' })).toMatchObject({
      tier: 'admin',
      via: 'bearer',
      sessionId: null,
    });
    expect(resolve({ cookie: 'bad', bearer: 'C' })).toMatchObject({ tier: 'client', via: 'bearer' });
    expect(resolve({ cookie: 'bad' })).toMatchObject({ tier: 'anon', via: 'none' });
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
      const offered = { cookie: null, bearer: text, apiKey: text, subprotocol: text, xApiKey: false };
      expect(resolveTier(offered, { ...verifier, verifyKey: none.tierOf }).tier).toBe('anon');
    }
  });

  it('T13 x-api-key grants no access; sent alone it causes a hint', () => {
    expect(resolve({ xApiKey: true })).toEqual({
      tier: 'anon',
      via: 'none',
      sessionId: null,
      refused: 'x-api-key',
    });
    expect(resolve({ xApiKey: true, bearer: 'C' }).refused).toBeUndefined();
  });

  it.each([
    ['a wrong Bearer key', { bearer: 'x' }, 'wrong-key'],
    ['a wrong api_key', { apiKey: 'x' }, 'wrong-key'],
    ['a wrong subprotocol key', { subprotocol: 'x' }, 'wrong-key'],
    ['two wrong keys', { bearer: 'x', apiKey: 'y' }, 'wrong-key'],
    ['a wrong Bearer key beside x-api-key', { bearer: 'x', xApiKey: true }, 'wrong-key'],
    ['a wrong key beside an expired session', { cookie: 'bad', bearer: 'x' }, 'wrong-key'],
    ['an expired session', { cookie: 'bad' }, undefined],
    ['no credential', {}, undefined],
    ['a valid key after a wrong one', { bearer: 'x', apiKey: 'C' }, undefined],
  ])('F8 %s', (_, offered, refused) => expect(resolve(offered).refused).toBe(refused));

  it('checks no key when the cookie is valid', () => {
    const checkedKeys: string[] = [];
    const verifyKey = (offered: string) => {
      checkedKeys.push(offered);
      return null;
    };
    const offered = { cookie: 'good', bearer: 'A', apiKey: null, subprotocol: null, xApiKey: false };
    expect(resolveTier(offered, { ...verifier, verifyKey }).tier).toBe('admin');
    expect(checkedKeys).toEqual([]);
  });
});
