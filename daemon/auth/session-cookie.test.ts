import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../test/harness/any-text.ts';
import { fuzzing } from '../test/harness/scale.ts';
import {
  clearCookieHeader,
  issueCookie,
  readCookie,
  SESSION_TTL_S,
  sessionCookiesIn,
  setCookieHeader,
} from './session-cookie.ts';

const secret = randomBytes(32);
const NOW = 1_800_000_000;
const session = { sessionId: '0123456789abcdef0123456789abcdef', expiresAt: NOW + SESSION_TTL_S };
const value = issueCookie(secret, session);
const read = (text: string, now = NOW) => readCookie(secret, text, now);
const b64 = (text: string | Buffer) => Buffer.from(text as string).toString('base64url');
const mac = (payload: string, key: string | Buffer = secret, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(payload).digest('base64url');
const signed = (json: string | Buffer) => `${b64(json)}.${mac(b64(json))}`;
const expiring = (expires: unknown) => signed(`{"session_id":"abc","expires_at":${expires}}`);

describe('session cookie', () => {
  it('parses what it issued: base64url with one dot', () => {
    expect(read(value)).toEqual(session);
    expect(value).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
    expect(JSON.parse(Buffer.from(value.split('.')[0] as string, 'base64url').toString())).toEqual({
      session_id: session.sessionId,
      expires_at: session.expiresAt,
    });
    expect(value.split('.')[1]).toBe(mac(value.split('.')[0] as string));
  });

  it('accepts a payload with either key order when signed with the same secret', () => {
    const json = JSON.stringify({ expires_at: NOW + 5, session_id: 'a-b_C' });
    expect(read(signed(json))).toEqual({ sessionId: 'a-b_C', expiresAt: NOW + 5 });
  });

  it('K01 every single flipped bit of payload, dot and signature is refused', () => {
    const bytes = Buffer.from(value, 'latin1');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const copy = Buffer.from(bytes);
      copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(read(copy.toString('latin1'))).toBeNull();
    }
  });

  it('K01 every flipped bit of the decoded parts is refused', () => {
    const parts = value.split('.').map((part) => Buffer.from(part, 'base64url'));
    parts.forEach((part, index) => {
      for (let bit = 0; bit < part.length * 8; bit++) {
        const copy = parts.map((each) => Buffer.from(each));
        const target = copy[index] as Buffer;
        target[bit >> 3] = (target[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(read(copy.map((each) => each.toString('base64url')).join('.'))).toBeNull();
      }
    });
  });

  it('K03 padding, the standard alphabet, spaces, newlines and stray low bits are refused', () => {
    const [payload, signature] = value.split('.') as [string, string];
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const stray =
      last[
        (last.indexOf(signature.at(-1) as string) & ~3) | ((last.indexOf(signature.at(-1) as string) + 1) & 3)
      ];
    const spellings = [
      `${payload}.${signature}=`,
      `${payload}=.${signature}`,
      `${payload}==.${signature}`,
      ` ${value}`,
      `${value} `,
      `${value}\n`,
      `${payload}\n.${signature}`,
      `${payload} .${signature}`,
      `${payload}. ${signature}`,
      `"${value}"`,
      `${value}.`,
      `.${value}`,
      `${payload}..${signature}`,
      `${payload}.${signature.slice(0, -1)}${stray}`,
      payload,
      `${payload}.`,
      `.${signature}`,
      '.',
      '',
    ];
    for (const text of spellings) expect([text, read(text)]).toEqual([text, null]);
    // A payload whose own text is not canonical is refused even when the signature covers that text.
    const standard = `${Buffer.from('{"session_id":"ab","expires_at":1800000009}').toString('base64')}`;
    expect(read(`${standard}.${mac(standard)}`)).toBeNull();
    const odd = b64('{"session_id":"ab","expires_at":1800000009}');
    expect(odd.length % 4).not.toBe(0);
    const sibling = odd.slice(0, -1) + last[last.indexOf(odd.at(-1) as string) + 1];
    expect(Buffer.from(sibling, 'base64url')).toEqual(Buffer.from(odd, 'base64url'));
    expect(read(`${odd}.${mac(odd)}`)).not.toBeNull();
    expect(read(`${sibling}.${mac(sibling)}`)).toBeNull();
  });

  it('K04 other secrets, other hashes and unsigned payloads are refused', () => {
    const payload = value.split('.')[0] as string;
    for (const key of [randomBytes(32), 'the-admin-key', '', Buffer.alloc(32)]) {
      expect(read(`${payload}.${mac(payload, key)}`)).toBeNull();
    }
    expect(read(`${payload}.${mac(payload, secret, 'sha1')}`)).toBeNull();
    expect(read(`${payload}.${mac(payload, secret, 'sha512')}`)).toBeNull();
    expect(read(`${payload}.${mac(payload, secret, 'sha512').slice(0, 43)}`)).toBeNull();
    const overJson = createHmac('sha256', secret)
      .update(Buffer.from(payload, 'base64url'))
      .digest('base64url');
    expect(read(`${payload}.${overJson}`)).toBeNull();
    expect(read(`${payload}.${'A'.repeat(43)}`)).toBeNull();
  });

  it('K05 payloads other than the two keys with their types are refused', () => {
    const good = `"session_id":"abc","expires_at":${NOW + 9}`;
    expect(read(signed(`{${good}}`))).not.toBeNull();
    const payloads = [
      `{${good},"alg":"none"}`,
      `{${good},"tier":"admin"}`,
      `{${good},"expires_at":${NOW + 9}}`,
      `{"expires_at":1,${good}}`,
      `{"__proto__":{},${good}}`,
      `{"expires_at":${NOW + 9}}`,
      '{"session_id":"abc"}',
      `{ ${good} }`,
      `{${good}}\n`,
      `[{${good}}]`,
      `"x"`,
      'null',
      '1',
      '',
      '{',
      `{"session_id":1,"expires_at":${NOW + 9}}`,
      `{"session_id":"","expires_at":${NOW + 9}}`,
      `{"session_id":null,"expires_at":${NOW + 9}}`,
      `{"session_id":"a b","expires_at":${NOW + 9}}`,
      `{"session_id":"${'a'.repeat(129)}","expires_at":${NOW + 9}}`,
      `{"session_id":"\\u0061","expires_at":${NOW + 9}}`,
      `{"Session_id":"abc","expires_at":${NOW + 9}}`,
      `\ufeff{${good}}`,
    ];
    for (const json of payloads) expect([json, read(signed(json))]).toEqual([json, null]);
    const numbers = [
      `"${NOW + 9}"`,
      `${NOW + 9}.0`,
      `${NOW + 9}.5`,
      '1.800000009e9',
      '1e400',
      '-1',
      '-0',
      '0',
      'null',
      'true',
      '[]',
      'NaN',
      '9007199254740993',
    ];
    for (const expires of numbers) expect([expires, read(expiring(expires))]).toEqual([expires, null]);
    expect(
      read(
        signed(
          Buffer.concat([
            Buffer.from('{"session_id":"a'),
            Buffer.from([0xff]),
            Buffer.from(`","expires_at":${NOW + 9}}`),
          ]),
        ),
      ),
    ).toBeNull();
  });

  it('K06 expires exactly on time, and is refused when it expires later than a new session would', () => {
    expect(read(expiring(NOW))).toBeNull();
    expect(read(expiring(NOW - 1))).toBeNull();
    expect(read(expiring(NOW + 1))).not.toBeNull();
    expect(read(expiring(NOW + SESSION_TTL_S + 60))).not.toBeNull();
    expect(read(expiring(NOW + SESSION_TTL_S + 61))).toBeNull();
  });

  it('K07 oversized headers, many cookies and invalid bytes give no session and never throw', () => {
    expect(sessionCookiesIn(`svc_session=${value}; x=${'y'.repeat(65_536)}`)).toEqual([]);
    const padded = (length: number) => 'svc_session=a; x='.padEnd(length, 'y');
    expect([sessionCookiesIn(padded(16_384)), sessionCookiesIn(padded(16_385))]).toEqual([['a'], []]);
    const many = Array.from({ length: 200 }, (_, i) => `c${i}=v`).join('; ');
    expect(sessionCookiesIn(`${many}; svc_session=${value}`)).toEqual([]);
    const cookies = (count: number) => Array.from({ length: count }, (_, i) => `c${i}=v`).join('; ');
    expect(sessionCookiesIn(`${cookies(99)}; svc_session=${value}`)).toEqual([value]);
    expect(sessionCookiesIn(`${cookies(100)}; svc_session=${value}`)).toEqual([]);
    expect(read('a'.repeat(65_536))).toBeNull();
    for (const header of [
      'svc_session=%ff%fe',
      'svc_session=\xff\xfe',
      'svc_session',
      'svc_session=',
      '; ;=;svc_session==',
      '\0svc_session=x',
    ]) {
      expect(sessionCookiesIn(header).map((one) => read(one))).not.toContainEqual(expect.anything());
    }
  });

  it.each([
    ['one among others', `a=b; svc_session=${value}; c=d`, [value]],
    ['several, in order', 'svc_session=1; a=b; svc_session=2', ['1', '2']],
    ['an empty one counts', 'svc_session=; svc_session=2', ['', '2']],
    ['equal ones count each', 'svc_session=1; svc_session=1', ['1', '1']],
    ['four', 'svc_session=1; svc_session=2; svc_session=3; svc_session=4', ['1', '2', '3', '4']],
    [
      'not the fifth',
      'svc_session=1; svc_session=2; svc_session=3; svc_session=4; svc_session=5',
      ['1', '2', '3', '4'],
    ],
    ['blanks around name and value', 'svc_session = 1 ;\tsvc_session\t=\t2', ['1', '2']],
    ['without blanks', 'svc_session=1;svc_session=2', ['1', '2']],
    ['a value as sent', 'svc_session=%61; svc_session="b"; svc_session=c=d', ['%61', '"b"', 'c=d']],
    ['a name without a value', 'svc_session; svc_session=2', ['2']],
    ['another name', `xsvc_session=${value}; svc_sessionx=${value}`, []],
    ['another case', `SVC_SESSION=${value}`, []],
    ['none', '', []],
  ])('finds the cookies: %s', (_, header, values) => expect(sessionCookiesIn(header)).toEqual(values));

  it('K13 Set-Cookie has HttpOnly, SameSite=Lax, Path=/, Max-Age=28800, Secure only on request, no Domain', () => {
    const parts = (text: string) => text.split('; ').sort();
    const base = ['HttpOnly', 'Max-Age=28800', 'Path=/', 'SameSite=Lax', `svc_session=${value}`];
    expect(parts(setCookieHeader(value, false))).toEqual(base);
    expect(parts(setCookieHeader(value, true))).toEqual([...base, 'Secure'].sort());
    expect(parts(clearCookieHeader(false))).toEqual([
      'HttpOnly',
      'Max-Age=0',
      'Path=/',
      'SameSite=Lax',
      'svc_session=',
    ]);
  });

  it('K01 no mutated, spliced or invented value is a valid session', () => {
    const chars = fc.constantFrom(...'ABCyz019-_.+/= \n%"', '\xff', '\0');
    const mutation = fc.tuple(
      fc.nat(value.length - 1),
      fc.integer({ min: 0, max: 3 }),
      fc.array(chars, { maxLength: 3 }),
    );
    const mutated = fc
      .array(mutation, { minLength: 1, maxLength: 4 })
      .map((edits) =>
        edits.reduce(
          (text, [at, cut, add]) => text.slice(0, at) + add.join('') + text.slice(at + cut),
          value,
        ),
      );
    const invented = fc
      .tuple(fc.json(), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([json, bytes]) => `${b64(json)}.${b64(Buffer.from(bytes))}`);
    const anything = fc.oneof(mutated, invented, anyText(), fc.base64String());
    fc.assert(
      fc.property(anything, (text) => {
        if (text !== value) expect(read(text)).toBeNull();
      }),
      fuzzing('cookies', 1_000_000),
    );
  });

  it('K05 no signed JSON of another shape is a valid session', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(read(signed(json))).toBeNull();
      }),
      fuzzing('signed cookies', 200_000),
    );
  });
});
