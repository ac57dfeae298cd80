import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../test/harness/any-text.ts';
import { createKeys, fingerprint, generateKey } from './keys.ts';

const keys = (admin: string, client: string) => createKeys({ admin: () => admin, client: () => client });

describe('keys', () => {
  it('returns the tier of each key, and none for other texts', () => {
    const both = keys('the-admin-key', 'the-client-key');
    expect(both.tierOf('the-admin-key')).toBe('admin');
    expect(both.tierOf('the-client-key')).toBe('client');
    for (const text of [
      '',
      'the-admin-ke',
      'the-admin-keyy',
      'The-admin-key',
      ' the-admin-key',
      'the-admin-key\n',
      'the-admin-keythe-client-key',
    ]) {
      expect(both.tierOf(text)).toBeNull();
    }
  });

  it('compares with the admin key first when both are the same', () => {
    expect(keys('same', 'same').tierOf('same')).toBe('admin');
  });

  it('T08 an unset or blank key matches nothing', () => {
    for (const blank of ['', ' ', '  ', '\t', '\n']) {
      const none = keys(blank, blank);
      expect(none.has('admin')).toBe(false);
      expect(none.has('client')).toBe(false);
      for (const text of ['', ' ', '  ', '\t', '\n', 'undefined', 'null', 'false', '0', blank]) {
        expect(none.tierOf(text)).toBeNull();
      }
    }
  });

  it('T11 keys are compared by their UTF-8 bytes', () => {
    const odd = keys('a+/=% "#\\', 'ключ-🔑');
    expect(odd.tierOf('a+/=% "#\\')).toBe('admin');
    expect(odd.tierOf('ключ-🔑')).toBe('client');
  });

  it('R03 a changed key applies to the next request, and the old one is rejected at once', () => {
    let admin = 'old';
    const live = createKeys({ admin: () => admin, client: () => '' });
    expect(live.tierOf('old')).toBe('admin');
    admin = 'new';
    expect(live.tierOf('old')).toBeNull();
    expect(live.tierOf('new')).toBe('admin');
    admin = '';
    expect(live.has('admin')).toBe(false);
    expect(live.tierOf('new')).toBeNull();
    admin = 'new';
    expect(live.tierOf('new')).toBe('admin');
  });

  it('only the exact key matches', () => {
    const both = keys('the-admin-key', 'the-client-key');
    fc.assert(
      fc.property(anyText(), (text) => {
        if (text !== 'the-admin-key' && text !== 'the-client-key') expect(both.tierOf(text)).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it('the fingerprint is the first 8 hex characters of sha256', () => {
    expect(fingerprint('abc')).toBe(createHash('sha256').update('abc').digest('hex').slice(0, 8));
  });

  it('R14 generated keys are 43 base64url characters, unique, and never start with a dash', () => {
    const generated = new Set<string>();
    for (let i = 0; i < 20_000; i++) {
      const key = generateKey();
      if (!/^[A-Za-z0-9_][A-Za-z0-9_-]{42}$/.test(key)) expect(key).toBe('a good key');
      generated.add(key);
    }
    expect(generated.size).toBe(20_000);
  });
});
