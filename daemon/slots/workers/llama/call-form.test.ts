import { expect, test } from 'vitest';
import { callForm, type Render, takesLaterSystem, wantsDescriptions } from './call-form.ts';

interface TemplateVariables {
  messages: { content: string | null; tool_calls?: { function: { arguments: unknown } }[] }[];
}

/** Returns a template that writes `call` for the last message. */
const template =
  (call: (content: string | null, args: unknown) => string): Render =>
  (variables) => {
    const last = (variables as unknown as TemplateVariables).messages.at(-1);
    return call(last?.content ?? null, last?.tool_calls?.[0]?.function.arguments);
  };

test.each<[string, Render, object]>([
  ['JSON', template((_, args) => JSON.stringify(args)), { objects: true, emptyContent: '' }],
  [
    'text',
    template((_, args) => (typeof args === 'string' ? args : '[object Object]')),
    { objects: false, emptyContent: '' },
  ],
  [
    'calls only without content',
    template((content, args) => (content === null ? `args: ${String(args)}` : content)),
    { objects: false, emptyContent: null },
  ],
  ['nothing', template((content) => content ?? ''), { objects: false, emptyContent: '', written: false }],
])('detects a template that writes %s', (_, render, form) => {
  expect(callForm(render)).toEqual({ written: true, ...form });
});

test('keeps the calls for a template that refuses them all, so that its own error is reported', () => {
  const refuses: Render = () => {
    throw new Error('no calls');
  };
  expect(callForm(refuses)).toEqual({ objects: false, emptyContent: '', written: true });
  expect(wantsDescriptions(refuses)).toBe(false);
});

test('needs parameter descriptions when the template fails without them', () => {
  const strict: Render = ({ tools }) => {
    const text = JSON.stringify(tools);
    if (/{"type":"string"}/.test(text)) throw new Error('undefined');
    return text;
  };
  expect([wantsDescriptions(strict), wantsDescriptions(() => '')]).toEqual([true, false]);
});

test('detects whether a template writes later system messages where they are', () => {
  const template =
    (write: (messages: readonly { role: string; content: string | null }[]) => string): Render =>
    (variables) =>
      write(variables.messages as readonly { role: string; content: string | null }[]);
  const all = template((messages) => messages.map(({ role, content }) => `${role}: ${content}`).join('\n'));
  const first = template((messages) =>
    messages
      .filter(({ role }) => role !== 'system')
      .map(({ content }) => content)
      .join('\n'),
  );
  const moved = template((messages) =>
    [...messages]
      .sort((a, b) => Number(b.role === 'system') - Number(a.role === 'system'))
      .map(({ content }) => content)
      .join('\n'),
  );
  const refuses = template((messages) => {
    if (messages.some(({ role }, at) => role === 'system' && at > 0)) throw new Error('system must be first');
    return '';
  });
  expect([all, first, moved, refuses].map(takesLaterSystem)).toEqual([true, false, false, false]);
});
