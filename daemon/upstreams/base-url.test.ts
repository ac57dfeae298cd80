import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBaseUrl } from './base-url.ts';

const read = (text: string) => {
  const found = parseBaseUrl(text);
  if (typeof found === 'string') throw new Error(found);
  return found;
};

describe('parseBaseUrl', () => {
  it.each([
    ['http://desk.lan:8000', 'http://desk.lan:8000', '/v1'],
    ['http://desk.lan:8000/', 'http://desk.lan:8000', '/v1'],
    ['http://desk.lan:8000/v1///', 'http://desk.lan:8000', '/v1'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai', '/api/v1'],
    ['https://api.groq.com/openai/v1/', 'https://api.groq.com', '/openai/v1'],
    ['https://host.example.com/v1beta/openai', 'https://host.example.com', '/v1beta/openai'],
    ['HTTPS://API.OpenAI.com:443/v1', 'https://api.openai.com', '/v1'],
    ['http://[::1]:8080/v1', 'http://[::1]:8080', '/v1'],
    ['http://10.0.0.7:80', 'http://10.0.0.7', '/v1'],
  ])('%s is %s with %s instead of /v1', (text, origin, base) => {
    expect(read(text)).toMatchObject({ origin, base, text: `${origin}${base}` });
  });

  it.each([
    '',
    'desk:8000',
    'ftp://desk/v1',
    'http://user:secret@desk/v1',
    'http://desk/v1?api_key=secret',
    'http://desk/v1#x',
    'http://desk/../v1',
    'http://desk/a/./v1',
    'http://desk/%2e%2e/v1',
    'http://desk/a%2fb',
    'http://desk//v1',
    'http://desk\\v1',
    'http://desk /v1',
    'http://127.1/v1',
    'http://0x7f.1/v1',
    'http://169.254.169.254/latest',
    'http://[fd00:ec2::254]/v1',
    'http://[::ffff:169.254.169.254]/v1',
    'http://0.0.0.0:8080',
    'http://desk:0/v1',
    'http://desk:99999/v1',
  ])('%j is refused without repeating its text', (text) => {
    const reason = parseBaseUrl(text);
    expect(reason).toBeTypeOf('string');
    expect(reason).not.toContain('secret');
  });

  it.each(['http://user:secret@desk/v1', 'http://secret@desk', 'http://u:@desk:8000/v1'])(
    '%j is reported as containing a key in the wrong place',
    (text) => {
      expect(parseBaseUrl(text)).toMatch(/^must not contain a user or a password; key_env names/);
    },
  );

  it.each([
    ['http://localhost:1', true],
    ['http://127.0.0.9', true],
    ['http://192.168.1.4', true],
    ['http://100.64.1.2', true],
    ['http://[fd12::1]', true],
    ['http://desk', true],
    ['http://desk.lan', true],
    ['http://desk.home.arpa', true],
    ['http://desk.tail1234.ts.net', true],
    ['https://api.openai.com', false],
    ['http://1.1.1.1', false],
    ['http://[2606:4700::1]', false],
    ['http://lan.evil.com', false],
  ])('%s is in the own network: %s', (text, near) => expect(read(text).isNear).toBe(near));

  it('every accepted text is accepted again in its canonical form', () => {
    const part = fc.stringMatching(/^[a-z0-9._-]{1,12}$/);
    const url = fc
      .tuple(fc.constantFrom('http', 'https'), part, fc.nat(70_000), fc.array(part, { maxLength: 3 }))
      .map(([scheme, host, port, path]) => `${scheme}://${host}:${port}/${path.join('/')}`);
    fc.assert(
      fc.property(url, (text) => {
        const first = parseBaseUrl(text);
        if (typeof first === 'string') return;
        expect(parseBaseUrl(first.text)).toEqual(first);
        expect(new URL(first.text).origin).toBe(first.origin);
      }),
    );
  });
});
