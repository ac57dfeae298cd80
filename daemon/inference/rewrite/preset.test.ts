import { expect, test } from 'vitest';
import type { Preset } from '../../settings/name-tables.ts';
import type { InferenceCall } from '../call-context.ts';
import { ConfiguredNames } from '../dispatch/configured-names.ts';
import type { RoutingSources } from '../dispatch/routing-view.ts';
import { NO_UPSTREAMS } from '../ports.ts';
import { applyPreset } from './preset.ts';

const sources = (preset: Partial<Preset>): RoutingSources => ({
  slots: { views: () => [] },
  registry: { list: () => [] },
  upstreams: NO_UPSTREAMS,
  npuSuffix: () => 'flm',
  names: () => {
    const full = { model: 'agent', set: {}, default: {}, strip: [], system: '', ...preset };
    return new ConfiguredNames({ aliases: { other: 'writer' }, presets: { writer: full } });
  },
});
const call = (text: string, more: Partial<InferenceCall> = {}) =>
  ({ body: Buffer.from(text), ...more }) as InferenceCall;
const applied = (preset: Partial<Preset>, text: string) =>
  applyPreset(call(text), sources(preset)).body.toString();

test('sets, fills in and removes fields, and leaves every other byte', () => {
  const preset = { set: { temperature: 0.2 }, default: { max_tokens: 99, top_p: 0.5 }, strip: ['seed'] };
  expect(
    applied(
      preset,
      '{"model": "writer",  "temperature":1, "seed":  7, "x" : 1.0, "top_p":null, "messages":[]}',
    ),
  ).toBe('{"max_tokens":99,"model": "writer",  "temperature":0.2, "x" : 1.0, "top_p":0.5, "messages":[]}');
});

test('a field that is set wins over the caller, over a default and over strip', () => {
  const preset = { set: { top_k: 1 }, default: { top_k: 2, seed: 3 }, strip: ['top_k', 'seed'] };
  expect(applied(preset, '{"model":"writer","top_k":9,"seed":9}')).toBe(
    '{"model":"writer","top_k":1,"seed":3}',
  );
});

test('duplicates and escaped names do not pass a preset', () => {
  const preset = { set: { temperature: 0 }, strip: ['seed'] };
  expect(
    JSON.parse(applied(preset, '{"temperature":1,"temperature":2,"se\\u0065d":1,"model":"writer"}')),
  ).toEqual({
    ...{ temperature: 0, model: 'writer' },
  });
});

test.each([
  [
    'no system text',
    '[{"role":"user","content":"hi"}]',
    '[{"role":"system","content":"S"},{"role":"user","content":"hi"}]',
  ],
  ['a system text', '[{"role":"system","content":"own"}]', '[{"role":"system","content":"S\\n\\nown"}]'],
  [
    'parts of a developer',
    '[{"role":"developer","content":[{"type":"text","text":"own"}]}]',
    '[{"role":"developer","content":[{"type":"text","text":"S"},{"type":"text","text":"own"}]}]',
  ],
  ['an empty list', '[]', '[{"role":"system","content":"S"}]'],
])('the system text comes first: %s', (_, before, after) => {
  expect(applied({ system: 'S' }, `{"model":"writer","messages":${before}}`)).toBe(
    `{"model":"writer","messages":${after}}`,
  );
});

test('the history of a translated chat changes with its body', () => {
  const messages = [{ role: 'user', content: 'hi' }];
  const before = call(JSON.stringify({ model: 'other', messages }), {
    history: { messages, extraOf: () => undefined } as never,
  });
  const after = applyPreset(before, sources({ system: 'S' }));
  const both = [{ role: 'system', content: 'S' }, ...messages];
  expect(JSON.parse(after.body.toString()).messages).toEqual(both);
  expect(after.history?.messages).toEqual(both);
});

test.each([
  ['another model', '{"model":"agent","seed":1}'],
  ['no model', '{"seed":1}'],
  ['broken JSON', '{"model":"writer"'],
])('stays the same call: %s', (_, text) => {
  const before = call(text);
  expect(applyPreset(before, sources({ strip: ['seed'] }))).toBe(before);
});

test('a form stays the same call', () => {
  const before = call('', { receive: () => Promise.resolve() });
  expect(applyPreset(before, sources({ strip: ['seed'] }))).toBe(before);
});
