import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../test/harness/any-text.ts';
import { fuzzing } from '../test/harness/scale.ts';
import { parseAuthority } from './authority.ts';
import { decodeUtf8 } from './raw-headers.ts';

const host = (text: string) => parseAuthority(text)?.host ?? null;

describe('parseAuthority', () => {
  it.each([
    ['h', 'h', null],
    ['H.Example:8080', 'h.example', 8080],
    ['h.', 'h', null],
    ['h:', 'h', null],
    ['my_box:0080', 'my_box', 80],
    ['127.0.0.1:1', '127.0.0.1', 1],
    ['127.0.0.1.', '127.0.0.1', null],
    ['[::1]:8080', '[::1]', 8080],
    ['[0:0:0:0:0:0:0:1]', '[::1]', null],
    ['[FE80::00A1]', '[fe80::a1]', null],
    ['[::ffff:1.2.3.4]', '[::ffff:102:304]', null],
  ])('reads %s', (text, name, port) => {
    expect(parseAuthority(text)).toMatchObject({ host: name, port });
  });

  it('accepts at most the longest name and the last port', () => {
    expect(parseAuthority('h:65535')?.port).toBe(65_535);
    const long = (length: number) => 'a.'.repeat(126).padEnd(length, 'b');
    expect([host(long(253)), host(long(254))]).toEqual([long(253), null]);
    // Soft hyphens are removed from a name, however many there are.
    const hyphens = (length: number) => 'h'.padStart(length, '\u00ad');
    expect([host(hyphens(320)), host(hyphens(321))]).toEqual(['h', null]);
  });

  it('distinguishes an address from a name', () => {
    expect(parseAuthority('10.0.0.1')?.kind).toBe('ip');
    expect(parseAuthority('[::1]')?.kind).toBe('ip');
    expect(parseAuthority('ten')?.kind).toBe('name');
  });

  it.each([
    '',
    ' h',
    'h ',
    'a/../b?x@y',
    'user@h',
    'h:x',
    'h:65536',
    'h:-1',
    'h:1:2',
    'h:000080',
    'h,h',
    'h\\',
    'h#',
    'h?',
    '::1',
    '[::1',
    '[::1]x',
    '[::1]:x',
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '[]',
    '[1.2.3.4]',
    '127.1',
    '0x7f.1',
    '2130706433',
    '1.2.3.256',
    '01.2.3.4',
    'a.0x1',
    '.',
    '..',
    '.h',
    'h..',
    'a..b',
    'h%2e',
    'h\0',
    'a b',
    '*',
    '*.h',
    `${'a'.repeat(64)}.b`,
    'a.'.repeat(130),
    'ü@h',
    'ü/h',
    'ü%h',
    'ü h',
  ])('refuses %j', (text) => {
    expect(parseAuthority(text)).toBeNull();
  });

  it('O04 parses an IDN, its UTF-8 bytes and its punycode as the same name', () => {
    const bytes = Buffer.from('bücher.example').toString('latin1');
    for (const text of [
      'bücher.example',
      'BÜCHER.example',
      bytes,
      'xn--bcher-kva.example',
      'XN--bcher-KVA.Example.',
    ]) {
      expect(host(text)).toBe('xn--bcher-kva.example');
    }
    expect(host('１２７.1')).toBe('127.0.0.1');
    expect(host('ｅvil.example')).toBe('evil.example');
  });

  it('accepts nothing that the URL standard parses as another host or port', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        'B',
        '1',
        '0',
        '255',
        '.',
        '..',
        ':',
        '::',
        '[',
        ']',
        '-',
        '_',
        '%',
        '%2e',
        '@',
        '/',
        '\\',
        '?',
        '#',
        ' ',
        'x',
      ],
      ...[
        '0x',
        'xn--',
        'ü',
        'ß',
        '。',
        '80',
        '443',
        '65536',
        'ffff',
        'localhost',
        '127.0.0.1',
        '\t',
        '\u00ad',
        'K',
        'Ã¼',
      ],
    );
    const webAuthority = fc.webAuthority({ withPort: true, withIPv4: true, withIPv6: true });
    const text = fc.oneof(
      fc.array(piece, { maxLength: 7 }).map((parts) => parts.join('')),
      anyText(12),
      webAuthority,
      fc.tuple(anyText(8), webAuthority).map(([user, authority]) => `${user}@${authority}`),
    );
    fc.assert(
      fc.property(text, (raw) => {
        const parsed = parseAuthority(raw);
        if (parsed === null || decodeUtf8(raw) !== raw) return;
        const url = new URL(`http://${raw}/`);
        expect(parsed.host).toBe(url.hostname.replace(/\.$/, ''));
        expect(parsed.port ?? 80).toBe(Number(url.port || 80));
        expect(`${url.username}${url.password}${url.search}${url.hash}`).toBe('');
        expect(url.pathname).toBe('/');
      }),
      fuzzing('authorities', 200_000),
    );
  });

  it('accepts every ordinary authority, in the form of the URL standard', () => {
    const authority = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
    );
    fc.assert(
      fc.property(authority, fc.option(fc.nat(65_535)), (name, port) => {
        const raw = port === null ? name : `${name}:${port}`;
        if (!URL.canParse(`http://${raw}/`)) return;
        expect(host(raw)).toBe(new URL(`http://${raw}/`).hostname);
        expect(host(raw.toUpperCase())).toBe(host(raw));
      }),
      fuzzing('ordinary authorities', 200_000),
    );
  });
});
