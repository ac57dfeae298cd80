import { describe, expect, test } from 'vitest';
import type { Json } from '../dialects/json.ts';
import { scanBody } from './body-index.ts';
import type { MediaSupport } from './body-rule.ts';
import { checkCalls } from './call-arguments.ts';
import { render } from './edits.ts';
import { unreadableParts } from './unreadable-parts.ts';

const text = { type: 'text', text: 'See.' };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
const pdf = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } };
const stored = { type: 'file', file: { file_id: 'file_1' } };
const sound = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown, more: Json = {}) => ({ role: 'assistant', content, ...more });
const call = { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] };
const tool = (content: unknown) => ({ role: 'tool', tool_call_id: 'c', content });

function sent(messages: unknown[], reads: MediaSupport = 'text') {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', messages }));
  const index = scanBody(bytes);
  const ignored: string[] = [];
  const edits = unreadableParts({
    index,
    local: true,
    callEdits: checkCalls(index),
    thinkingDefault: () => null,
    media: () => reads,
    ignore: (name) => void ignored.push(name),
  });
  const result = render(index, edits);
  return { bytes, result, messages: (JSON.parse(String(result)) as Json).messages as Json[], ignored };
}

describe('parts that a text-only engine cannot read', () => {
  test.each<[string, object, RegExp, string]>([
    ['an image', image, /An image that this model cannot read/, 'image_url'],
    ['a PDF', pdf, /PDF document \(a\.pdf\).*pdftotext/, 'file'],
    ['a stored file', stored, /A file that this model cannot read/, 'file'],
    ['sound', sound, /type input_audio/, 'input_audio'],
    ['a block of another API', { type: 'tool_result', content: 'x' }, /type tool_result/, 'tool_result'],
  ])('%s is text in older turns and results', (_, part, expected, name) => {
    for (const messages of [
      [user([text, part]), assistant('Yes.'), user('And?')],
      [user([part]), user('And?')],
      [user('x'), assistant(null, call), tool([text, part])],
      [user([part]), assistant(null, call), tool('ok')],
      [user('x'), assistant([part]), user('And?')],
    ]) {
      const made = sent(messages);
      expect(JSON.stringify(made.messages)).toMatch(expected);
      expect(JSON.stringify(made.messages)).not.toContain(`"type":"${name}"`);
      expect(made.ignored).toEqual([name]);
    }
    // What is to be answered stays, so that the engine refuses it.
    for (const newest of [[user([text, part])], [user('x'), assistant('y'), user([part])]]) {
      const made = sent(newest);
      expect(made.result).toBe(made.bytes);
      expect(made.ignored).toEqual([]);
    }
  });

  test.each<[string, object, string]>([
    ['a text file', { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' }, 'a.txt\nhi'],
    ['a text file without a name', { file_data: 'aGk=' }, 'hi'],
    ['JSON', { filename: 'a.json', file_data: 'data:application/json;base64,e30=' }, 'a.json\n{}'],
  ])('%s is read, in the newest message too', (_, file, expected) => {
    const part = { type: 'file', file };
    const made = sent([user([part]), assistant(null, call), tool([part]), user([text, part])]);
    expect(made.messages.map(({ content }) => content)).toEqual([
      expected,
      null,
      expected,
      `See.\n${expected}`,
    ]);
    expect(made.ignored).toEqual([]);
    const mixed = sent([user([part, pdf])]);
    expect(mixed.messages[0]?.content).toEqual([{ type: 'text', text: expected }, pdf]);
  });

  test('reasoning is left out', () => {
    const thought = { type: 'thinking', thinking: 'hm' };
    const made = sent([user('x'), assistant([thought, text]), user('y'), assistant([thought]), user('z')]);
    expect(made.messages.map(({ content }) => content)).toEqual(['x', 'See.', 'y', '', 'z']);
    expect(made.ignored).toEqual(['thinking', 'thinking']);
  });
});

test('an engine with vision keeps images only', () => {
  const made = sent([user([image, pdf]), assistant('Yes.'), user('And?')], 'images');
  expect(made.messages[0]?.content).toMatchObject([image, { type: 'text' }]);
});

test.each<[string, unknown[], MediaSupport]>([
  ['a target of unknown abilities', [user([image]), user('x')], 'unknown'],
  ['text', [user([text]), assistant([{ type: 'refusal', refusal: 'no' }]), user('x')], 'text'],
  ['a part without a type', [user([{ text: 'x' }]), user('x')], 'text'],
  ['strings', [user('x'), tool('y')], 'text'],
  ['a system message', [{ role: 'system', content: [image] }, user('x')], 'text'],
])('the bytes stay the same for %s', (_, messages, reads) => {
  const made = sent(messages, reads);
  expect(made.result).toBe(made.bytes);
});

const emptyCall = { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] };

test.each<[string, unknown, MediaSupport]>([
  ['reasoning in the same message', [{ type: 'thinking', thinking: 'x' }, text], 'text'],
  ['an image in the same message', [text, image], 'text'],
  ['readable parts in the same message', [text], 'text'],
  ['no parts', 'See.', 'text'],
  ['a target of unknown abilities', [text, image], 'unknown'],
])('empty arguments are filled in next to %s', (_, content, reads) => {
  const made = sent([user('x'), assistant(content, emptyCall), tool([text, image])], reads);
  expect(made.messages[1]).toMatchObject({ tool_calls: [{ function: { arguments: '{}' } }] });
  expect(JSON.stringify(made.messages)).not.toContain('"thinking"');
});
