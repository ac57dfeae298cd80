import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../test/harness/any-text.ts';
import { fuzzing } from '../test/harness/scale.ts';
import {
  canonicalOrigins,
  checkOrigin,
  listedOrigin,
  originRefusal,
  parseOrigin,
  requiresOriginCheck,
} from './origin.ts';

const judge = (origin: string | string[] | null, host: string | string[], allowed: string[] = []) =>
  checkOrigin({
    origins: origin === null ? [] : [origin].flat(),
    hosts: [host].flat(),
    allowed: canonicalOrigins(allowed),
  });

describe('Origin check', () => {
  it('O01 no Origin is allowed, an empty one is not', () => {
    expect(judge(null, 'h')).toBe('ok');
    expect(judge(null, [])).toBe('ok');
    expect(judge('', 'h')).toBe('forbidden');
  });

  it('O03 ports are compared', () => {
    expect(judge('http://h:8080', 'h:8080')).toBe('ok');
    expect(judge('http://h:8080', 'h:9090')).toBe('forbidden');
    expect(judge('http://h', 'h:8080')).toBe('forbidden');
    expect(judge('http://h:8080', 'h')).toBe('forbidden');
  });

  it('O04 default ports are those of the Origin, also behind a TLS proxy', () => {
    for (const [origin, host] of [
      ['http://h', 'h:80'],
      ['http://h:80', 'h'],
      ['https://h', 'h:443'],
      ['https://h', 'h'],
      ['https://h:443', 'h'],
    ] as const) {
      expect(judge(origin, host)).toBe('ok');
    }
    expect(judge('https://h', 'h:80')).toBe('forbidden');
    expect(judge('http://h', 'h:443')).toBe('forbidden');
    expect(judge('https://h:80', 'h')).toBe('forbidden');
  });

  it('O04 the spelling is normalised', () => {
    for (const [origin, host] of [
      ['HTTP://Box.LAN', 'bOX.lan'],
      ['http://box.lan.', 'box.lan'],
      ['http://box.lan', 'box.lan.:80'],
      ['http://bücher.example', 'xn--bcher-kva.example'],
      ['http://xn--bcher-kva.example', 'bücher.example'],
      ['http://[::1]:8080', '[0:0:0:0:0:0:0:1]:8080'],
      ['http://[2001:DB8::1]', '[2001:db8:0::1]'],
    ] as const) {
      expect(judge(origin, host)).toBe('ok');
    }
  });

  it('O04 an origin has one canonical spelling', () => {
    const spelling = (text: string) => parseOrigin(text)?.canonical;
    expect(spelling('HTTP://Box.LAN.:80')).toBe('http://box.lan');
    expect(spelling('https://h:443')).toBe('https://h');
    expect(spelling('https://h:80')).toBe('https://h:80');
    expect(spelling('Tauri://LocalHost')).toBe('tauri://localhost');
  });

  it('O07 an overlong text is not an origin', () => {
    const long = (length: number) => 'app://'.padEnd(length, 'x');
    expect(parseOrigin(long(512))).not.toBeNull();
    expect(parseOrigin(long(513))).toBeNull();
  });

  it('O07 a listed origin matches with its scheme and port', () => {
    const list = ['https://chat.example.com', 'http://tools.lan:3000'];
    expect(judge('https://chat.example.com', 'gw', list)).toBe('ok');
    expect(judge('https://CHAT.example.com:443', 'gw', list)).toBe('ok');
    expect(judge('http://chat.example.com', 'gw', list)).toBe('forbidden');
    expect(judge('https://chat.example.com:444', 'gw', list)).toBe('forbidden');
    expect(judge('http://tools.lan', 'gw', list)).toBe('forbidden');
    expect(judge('http://tools.lan:3000', 'gw', list)).toBe('ok');
    expect(judge('http://tools.lan:3001', 'gw', list)).toBe('forbidden');
    expect(judge('https://sub.chat.example.com', 'gw', list)).toBe('forbidden');
    expect(judge('https://chat.example.com.evil.org', 'gw', list)).toBe('forbidden');
  });

  it('O07 other schemes pass only when listed, and never by rule 3', () => {
    for (const origin of [
      'chrome-extension://abcdef',
      'tauri://localhost',
      'app://obsidian.md',
      'ws://h',
      'file://h',
      'constructor://h',
      'valueof://h',
    ]) {
      expect(judge(origin, origin.split('//')[1] as string)).toBe('forbidden');
      expect(judge(origin, 'gw', [origin])).toBe('ok');
    }
    expect(judge('tauri://evil', 'gw', ['tauri://localhost'])).toBe('forbidden');
  });

  it.each([
    'null',
    'NULL',
    'h',
    '//h',
    'http:h',
    'http://',
    'http:///',
    'http://h/',
    'http://h/x',
    'http://h?x',
    'http://h#x',
    'http://u@h',
    'http://h h',
    ' http://h',
    'http://h, http://h',
    'http://h,http://h',
    'http://h:99999',
    'http://h:x',
    'http://h%00',
    'javascript://h',
    'data:text/html,x',
    '*',
    'https://*',
    `http://${'h'.repeat(600)}`,
  ])('refuses %j although Host is h', (origin) => {
    expect(judge(origin, 'h')).toBe('forbidden');
  });

  it('refuses null even when it is listed', () => {
    expect(judge('null', 'h', ['null'])).toBe('forbidden');
    expect(canonicalOrigins(['null', '*', '']).size).toBe(0);
  });

  it('several Origin headers are refused, and a Host that is missing, doubled or malformed equals nothing', () => {
    expect(judge(['http://h', 'http://h'], 'h')).toBe('forbidden');
    expect(judge(['http://h', 'http://h'], 'h', ['http://h'])).toBe('forbidden');
    expect(judge('http://h', [])).toBe('forbidden');
    expect(judge('http://h', ['h', 'h'])).toBe('forbidden');
    expect(judge('http://h', 'u@h')).toBe('forbidden');
  });

  it('O11 O18 applies to the four methods and to every upgrade', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(requiresOriginCheck(method, false)).toBe(true);
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      expect(requiresOriginCheck(method, false)).toBe(false);
      expect(requiresOriginCheck(method, true)).toBe(true);
    }
  });

  it('CORS may echo a listed origin only, exactly as sent', () => {
    const allowed = canonicalOrigins(['https://chat.example.com']);
    expect(listedOrigin(['https://Chat.example.com'], allowed)).toBe('https://Chat.example.com');
    expect(listedOrigin(['https://evil.org'], allowed)).toBeNull();
    expect(listedOrigin([], allowed)).toBeNull();
    expect(listedOrigin(['https://chat.example.com', 'https://chat.example.com'], allowed)).toBeNull();
  });

  it('O04 rule 3 agrees with a reference that uses the URL standard', () => {
    const host = fc.constantFrom(
      ...[
        'h',
        'H',
        'h.',
        'g',
        'box.lan',
        'Box.Lan.',
        'bücher.example',
        'xn--bcher-kva.example',
        '127.0.0.1',
        '127.0.0.2',
      ],
      ...['[::1]', '[0:0::1]', '[::2]', '[::ffff:127.0.0.1]', 'evil.org', 'h.evil.org', '10.0.0.1'],
    );
    const port = fc.constantFrom('', ':80', ':443', ':8080', ':080', ':8081', ':');
    const scheme = fc.constantFrom('http', 'https', 'HTTPS', 'Http');
    const reference = (origin: string, own: string) => {
      const left = new URL(origin);
      const right = new URL(`${left.protocol}//${own}`);
      const bare = (url: URL) => url.hostname.replace(/\.$/, '');
      return bare(left) === bare(right) && left.port === right.port ? 'ok' : 'forbidden';
    };
    fc.assert(
      fc.property(scheme, host, port, host, port, (proto, name, originPort, own, ownPort) => {
        const origin = `${proto}://${name}${originPort}`;
        expect(judge(origin, `${own}${ownPort}`)).toBe(reference(origin, `${own}${ownPort}`));
      }),
      fuzzing('Origin and Host', 200_000),
    );
  });

  it('never throws and never accepts a text that is not an origin', () => {
    fc.assert(
      fc.property(anyText(40), (text) => {
        if (!URL.canParse(text)) expect(judge(text, text)).toBe('forbidden');
        parseOrigin(text);
      }),
      fuzzing('origins', 200_000),
    );
  });
});

describe('the message of a refusal', () => {
  it.each([
    ['tauri://localhost', 'tauri://localhost'],
    ['http://tauri.localhost', 'http://tauri.localhost'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['app://obsidian.md', 'app://obsidian.md'],
    ['chrome-extension://abcdefgh', 'chrome-extension://abcdefgh'],
    ['HTTPS://Chat.Example.org:443', 'https://chat.example.org'],
    ['http://localhost:5173', 'http://localhost:5173'],
  ])('%s names the setting and the entry to add, which then passes', (origin, entry) => {
    expect(originRefusal([origin])).toMatch(/SVC_ALLOWED_ORIGINS=(\S+)$/);
    expect(originRefusal([origin]).endsWith(`SVC_ALLOWED_ORIGINS=${entry}`)).toBe(true);
    expect(judge(origin, 'h', [entry])).toBe('ok');
  });

  it.each([
    ['null', /without an origin.*cannot list it.*over http/],
    ['file://', /without an origin.*cannot list it/],
    ['file:///home/me/page.html', /without an origin.*cannot list it/],
    ['', /not an origin.*cannot list it/],
    ['http://a/path', /not an origin.*cannot list it/],
    ['http://a, http://b', /not an origin.*cannot list it/],
    [`http://${'a'.repeat(600)}`, /not an origin.*cannot list it/],
  ])('%s says why it cannot be listed, and does not repeat it', (origin, message) => {
    expect(originRefusal([origin])).toMatch(message);
    expect(originRefusal([origin])).not.toContain('SVC_ALLOWED_ORIGINS=');
    expect(judge(origin, 'h', [origin])).toBe('forbidden');
  });

  it('several Origin headers cannot be listed', () => {
    expect(originRefusal(['http://a', 'http://b'])).toMatch(/more than one Origin header/);
  });
});
