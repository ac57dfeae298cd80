import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { pythonLiteral, shellWord } from './literals.ts';
import { type Language, type SnippetRoute, snippetOf } from './snippets.ts';

const body = {
  model: 'agent',
  messages: [{ role: 'user', content: `It's "here" $HOME \`x\`\nsecond` }],
  temperature: 0.2,
  stream: true,
};
const facts = { base: 'http://box:8080', key: true, body };

describe('shellWord', () => {
  it.each(["it's", '$HOME `date` "x"', 'two\nlines', "''"])('a shell gives %j back', (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  });
});

describe('pythonLiteral', () => {
  it('writes the words of Python', () => {
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

  it('the curl command carries the very body', () => {
    const text = snippetOf('curl', { ...facts, key: false }).replace(/^curl/, 'printf "%s\\n"');
    const words = execFileSync('sh', ['-c', text], { encoding: 'utf8' });
    expect(JSON.parse(words.slice(words.indexOf('\n{')))).toEqual(body);
  });

  it.each<[SnippetRoute, string, string]>([
    ['completion', 'client.completions.create(', 'client.completions.create('],
    ['embeddings', 'client.embeddings.create(', 'client.embeddings.create('],
    ['rerank', "client.post('/rerank', { body: ", 'client.post("/rerank", cast_to=httpx.Response'],
    ['speech', "writeFile('speech.wav'", 'answer.write_to_file("speech.wav")'],
    ['image', 'client.images.generate(', 'client.images.generate('],
  ])('%s has its own call', (route, javascript, python) => {
    const own = { ...facts, route, body: { model: 'm', input: 'x', response_format: 'wav' } };
    expect(snippetOf('javascript', own)).toContain(javascript);
    expect(snippetOf('python', own)).toContain(python);
    expect(snippetOf('curl', own)).toMatch(/http:\/\/box:8080\/v1\/[a-z/]+ /);
  });
});
