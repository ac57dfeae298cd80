import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { pythonLiteral, shellQuote } from './literals.ts';
import type { SnippetRoute } from './snippet-route.ts';
import { type Language, snippetOf } from './snippets.ts';

const body = {
  model: 'agent',
  messages: [{ role: 'user', content: `It's "here" $HOME \`x\`\nsecond` }],
  temperature: 0.2,
  stream: true,
};
const facts = { base: 'http://box:8080', key: true, body };

describe('shellQuote', () => {
  it.each(["it's", '$HOME `date` "x"', 'two\nlines', "''"])(
    'a shell parses the quoted %j unchanged',
    (text) => {
      expect(execFileSync('sh', ['-c', `printf %s ${shellQuote(text)}`], { encoding: 'utf8' })).toBe(text);
    },
  );
});

describe('pythonLiteral', () => {
  it('writes Python literals', () => {
    expect(pythonLiteral([true, false, null, 1.5, 'a"b'])).toBe(
      '[\n    True,\n    False,\n    None,\n    1.5,\n    "a\\"b",\n]',
    );
    expect(pythonLiteral({})).toBe('{}');
    expect(pythonLiteral([])).toBe('[]');
  });
});

describe('snippetOf', () => {
  it.each<Language>(['curl', 'javascript', 'python'])(
    '%s names the variable of the key only when needed',
    (to) => {
      expect(snippetOf(to, facts)).toContain('SVC_CLIENT_KEY');
      expect(snippetOf(to, { ...facts, key: false })).not.toContain('SVC_CLIENT_KEY');
      expect(snippetOf(to, facts)).toContain('http://box:8080/v1');
    },
  );

  it('the curl command contains the exact body', () => {
    const text = snippetOf('curl', { ...facts, key: false }).replace(/^curl/, 'printf "%s\\n"');
    const words = execFileSync('sh', ['-c', text], { encoding: 'utf8' });
    expect(JSON.parse(words.slice(words.indexOf('\n{')))).toEqual(body);
  });

  it.each<[SnippetRoute, string, string]>([
    ['completion', 'client.completions.create(', 'client.completions.create('],
    ['embeddings', 'client.embeddings.create(', 'client.embeddings.create('],
    ['rerank', "client.post('/rerank', { body: ", 'client.post("/rerank", cast_to=httpx.Response'],
    ['speech', "writeFile('speech.wav'", 'with open("speech.wav", "wb") as file:'],
    ['image', 'client.images.generate(', 'client.images.generate('],
  ])('%s has its own call', (route, javascript, python) => {
    const own = { ...facts, route, body: { model: 'm', input: 'x', response_format: 'wav' } };
    expect(snippetOf('javascript', own)).toContain(javascript);
    expect(snippetOf('python', own)).toContain(python);
    expect(snippetOf('curl', own)).toMatch(/http:\/\/box:8080\/v1\/[a-z/]+ /);
  });
});

describe('the code in Python', () => {
  /** Parameters of the calls of openai 3.22 for Python, as its signatures have them, for the requests of the playground. */
  const TAKES: Partial<Record<SnippetRoute, readonly string[]>> = {
    chat: ['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'tools', 'stream', 'stream_options'],
    completion: ['model', 'prompt', 'max_tokens', 'temperature', 'stream', 'stream_options'],
    embeddings: ['model', 'input', 'encoding_format'],
    speech: ['model', 'input', 'voice', 'response_format', 'speed'],
    image: ['model', 'prompt', 'size', 'n'],
  };

  /** Names of the arguments of the call; null for the bare post. */
  const argumentsOf = (text: string): string[] | null =>
    text.includes('client.post(') ? null : [...text.matchAll(/^ {4}(\w+)=/gm)].map((found) => found[1] ?? '');

  it.each<[SnippetRoute, Record<string, unknown>]>([
    ['chat', { ...body, omni: true, tools: [], max_tokens: 5, stream_options: { include_usage: true } }],
    ['completion', { model: 'm', prompt: 'x', max_tokens: 5, temperature: 1, stream: true }],
    ['embeddings', { model: 'm', input: ['x'], encoding_format: 'float' }],
    ['speech', { model: 'm', input: 'x', voice: 'v', speed: 2, response_format: 'wav' }],
    ['image', { model: 'm', prompt: 'x', size: '512x512', n: 2, extra_body: { seed: 1 } }],
  ])('of %s passes known parameters by name, and the others in extra_body', (route, own) => {
    const names = argumentsOf(snippetOf('python', { ...facts, route, body: own })) ?? [];
    expect(names.filter((name) => name !== 'extra_body' && !TAKES[route]?.includes(name))).toEqual([]);
    const rest = Object.keys(own).filter((name) => !names.includes(name));
    expect(rest.every((name) => name === 'omni')).toBe(true);
    expect(names.includes('extra_body')).toBe(rest.length > 0 || 'extra_body' in own);
  });

  it('passes extension members of the gateway for chat', () => {
    const text = snippetOf('python', { ...facts, body: { ...body, omni: true } });
    expect(text).toContain('extra_body={\n        "omni": True,\n    },');
  });

  it('uses post for speech without a voice, which the client requires', () => {
    const text = snippetOf('python', { ...facts, route: 'speech', body: { model: 'tts', input: 'x' } });
    expect(argumentsOf(text)).toBeNull();
    expect(text).toContain('import httpx');
    expect(text).toContain('client.post("/audio/speech", cast_to=httpx.Response');
    expect(text).toContain('with open("speech.mp3", "wb") as file:');
  });
});
