import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Language } from '../../../api/snippets.ts';
import { voiceCode } from './voice-code.ts';

const place = { base: 'https://box', key: true };
const codeOf = (language: Language, key = true): string =>
  voiceCode(language, { ...place, key }, 'a b', `It's "x"`);

describe('a live conversation as code', () => {
  it.each<[Language, string]>([
    ['curl', 'https://box/v1/realtime?model=a%20b'],
    ['javascript', 'wss://box/v1/realtime?model=a%20b'],
    ['python', 'wss://box/v1/realtime?model=a%20b'],
  ])('%s connects to the URL with the key from the environment', (language, address) => {
    expect(codeOf(language)).toContain(address);
    expect(codeOf(language)).toContain('SVC_CLIENT_KEY');
    expect(codeOf(language, false)).not.toContain('SVC_CLIENT_KEY');
  });

  it('texts are escaped in each language', () => {
    const message = /send\((\{.*?\})\);\n/.exec(codeOf('javascript'))?.[1] ?? '';
    expect(JSON.parse(message)).toMatchObject({ item: { content: [{ text: `It's "x"` }] } });
    expect(codeOf('python')).toContain(`"text": "It's \\"x\\""`);
  });

  it('curl is one shell command', () => {
    const text = codeOf('curl', false).replace(/^curl/m, 'printf "%s\\n"');
    const words = execFileSync('sh', ['-c', text], { encoding: 'utf8' }).split('\n');
    expect(words).toContain('Upgrade: websocket');
  });
});
