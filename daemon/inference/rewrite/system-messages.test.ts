import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanBody } from './body-index.ts';
import { render } from './edits.ts';
import { systemMessages } from './system-messages.ts';

const run = (text: string, local = true) => {
  const index = scanBody(Buffer.from(text));
  return render(index, systemMessages({ index, local, thinkingDefault: () => null })).toString();
};
const body = (...messages: unknown[]) => JSON.stringify({ model: 'a', messages, n: 1 });
const message = (role: string, content: unknown) => ({ role, content });

describe('a chat that needs no change', () => {
  test.each([
    '{"messages":[{"role":"user","content":"x"}]}',
    '{"messages":[ { "role" : "system" , "content":"a\\u00e9" , "t":1e400 } ,{"role":"user"}]}',
    '{"messages":[]}',
    '{"messages":5}',
    '{"messages":["x",{"role":7},null]}',
    '{}',
  ])('%s stays byte for byte', (text) => {
    expect(run(text)).toBe(text);
  });
});

test('a single one at another position is moved to the front unchanged', () => {
  expect(run('{"messages":[{"role":"user"}, {"n":1e400,"role":"system"} ,{"role":"user"}]}')).toBe(
    '{"messages":[{"n":1e400,"role":"system"},{"role":"user"},{"role":"user"}]}',
  );
});

test('developer becomes system for local engines only', () => {
  const text = '{"messages":[{"x":-0,"role" : "developer"},{"role":"user"}]}';
  expect(run(text)).toBe(text.replace('developer', 'system'));
  expect(run(text, false)).toBe(text);
  expect(run('{"messages":[{"role":"user"},{"role":"developer"}]}')).toBe(
    '{"messages":[{"role":"system"},{"role":"user"}]}',
  );
});

test('B10 several are merged into the first message, in order, separated by a blank line', () => {
  const merged = run(
    body(message('user', 'u1'), message('system', 's1'), message('user', 'u2'), message('developer', 's2')),
  );
  expect(JSON.parse(merged)).toEqual({
    model: 'a',
    messages: [message('system', 's1\n\ns2'), message('user', 'u1'), message('user', 'u2')],
    n: 1,
  });
});

test('if any content is an array, the parts are concatenated', () => {
  const image = { type: 'image_url', image_url: { url: 'data:' } };
  const merged = run(
    body(message('system', 'a'), message('system', [image]), message('system', null), message('user', 'u')),
  );
  expect(JSON.parse(merged).messages).toEqual([
    message('system', [{ type: 'text', text: 'a' }, image]),
    message('user', 'u'),
  ]);
});

test('only the effective role of a message with two roles remains', () => {
  expect(run('{"messages":[{"role":"user","role":"assistant","content":"c"}]}')).toBe(
    '{"messages":[{"role":"assistant","content":"c"}]}',
  );
  expect(run('{"messages":[{"role":"user","role":"developer","content":"c"}]}')).toBe(
    '{"messages":[{"role":"system","content":"c"}]}',
  );
});

test('for any conversation: at most one system message, which is first, and all other messages in order', () => {
  const role = fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool');
  const content = fc.oneof(
    fc.string(),
    fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ role, content }), { maxLength: 8 }), fc.nat(2), (messages, indent) => {
      const out = JSON.parse(run(JSON.stringify({ messages }, null, indent))) as {
        messages: typeof messages;
      };
      const isSystem = (each: { role: string }) => each.role === 'system' || each.role === 'developer';
      const system = messages.filter(isSystem);
      const texts = (list: typeof messages) =>
        list.flatMap((each) =>
          typeof each.content === 'string' ? [each.content] : each.content.map((p) => p.text),
        );
      expect(out.messages.filter((each) => !isSystem(each))).toEqual(
        messages.filter((each) => !isSystem(each)),
      );
      expect(out.messages.filter(isSystem)).toHaveLength(Math.min(1, system.length));
      if (system.length > 0) {
        expect(out.messages[0]?.role).toBe('system');
        expect(texts(out.messages.slice(0, 1)).join('\n\n')).toBe(texts(system).join('\n\n'));
      }
    }),
    { numRuns: 500 },
  );
});
