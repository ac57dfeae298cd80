import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import type { Preset } from '../../settings/name-tables.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { registeredModel, routingView, upstreamConfigOf } from '../testing/builders.ts';
import { ConfiguredNames } from './configured-names.ts';
import { refusal, resolve } from './dispatch.ts';
import { plainModelRef } from './model-ref.ts';
import { configuredName, nameProblems } from './resolve-name.ts';

const preset = (model: string): Preset => ({ model, set: {}, default: {}, strip: [], system: '' });
const view = (aliases: Record<string, string>, presets: Record<string, Preset> = {}) =>
  routingView({
    slots: [
      slotRecord({ name: 'agent', model: 'qwen' }),
      slotRecord({ name: 'embed', type: 'embedding', model: 'minilm' }),
    ],
    models: [registeredModel({ id: 'other' })],
    upstreams: [upstreamConfigOf({ name: 'desk', models: ['gpt-oss', 'claude-local'] })],
    names: new ConfiguredNames({ aliases, presets }),
  });
const route = (name: string, on: ReturnType<typeof view>, path = '/v1/chat/completions') => {
  const type = path === '/v1/embeddings' ? 'embedding' : path.includes('transcriptions') ? 'stt' : 'llm';
  const modelRef = rewriteModelRef(plainModelRef(name), on, type);
  const request = { path, type, modelRef } as const;
  const found = resolve(request, on);
  return { modelRef, target: found.target, error: refusal(request, on, found) };
};

test.each([
  ['a slot', 'agent', { kind: 'slot', slot: 'agent' }],
  ['a virtual name', 'svc/agent', { kind: 'slot', slot: 'agent' }],
  ['the legacy alias', 'agent-hermes', { kind: 'slot', slot: 'agent' }],
  ['the model of a slot', 'qwen', { kind: 'slot', slot: 'agent' }],
  ['a model of an upstream', 'gpt-oss', { kind: 'upstream', upstream: 'desk', model: 'gpt-oss' }],
])('an alias leads to %s', (_, target, expected) => {
  const on = view({ 'gpt-4o': target });
  expect(route('gpt-4o', on).target).toMatchObject(expected);
  expect(route('gpt-4o', on).modelRef.alias).toMatchObject({ kind: 'alias', name: 'gpt-4o', target });
});

test('an alias of a model id is bound to that model, an alias of a slot to the slot', () => {
  expect(route('gpt-4o', view({ 'gpt-4o': 'qwen' })).modelRef).toMatchObject({ by: null, lane: null });
  expect(route('gpt-4o', view({ 'gpt-4o': 'agent' })).modelRef).toMatchObject({
    ...{ by: 'slot-alias', lane: 'agent' },
  });
});

test('an alias works on other routes', () => {
  const on = view({ 'text-embedding-3-small': 'embed' });
  expect(route('text-embedding-3-small', on, '/v1/embeddings').target).toMatchObject({ slot: 'embed' });
});

test('slot names of this gateway come before aliases', () => {
  const on = view({ agent: 'gpt-oss', 'agent-hermes': 'gpt-oss', 'svc/agent': 'gpt-oss' });
  for (const name of ['agent', 'agent-hermes', 'svc/agent'])
    expect(route(name, on).target).toMatchObject({ kind: 'slot', slot: 'agent' });
});

test('an exact name comes before a model of the same id, a pattern does not', () => {
  expect(route('gpt-oss', view({ 'gpt-oss': 'agent' })).target).toMatchObject({ slot: 'agent' });
  expect(route('gpt-oss', view({ 'gpt-*': 'agent' })).target).toMatchObject({ upstream: 'desk' });
  expect(route('claude-local', view({ 'claude-*': 'agent' })).target).toMatchObject({ upstream: 'desk' });
  expect(route('claude-opus', view({ 'claude-*': 'agent' })).target).toMatchObject({ slot: 'agent' });
  expect(route('qwen', view({ '*': 'gpt-oss' })).target).toMatchObject({ slot: 'agent' });
  expect(configuredName('other', view({ '*': 'gpt-oss' }))).toBeNull();
});

test('the first matching pattern counts, and it is applied once', () => {
  const on = view({ 'claude-haiku*': 'gpt-oss', 'claude-*': 'claude-next' });
  expect(configuredName('claude-haiku-4', on)?.target).toBe('gpt-oss');
  expect(configuredName('claude-opus', on)?.target).toBe('claude-next');
});

test('an alias of an alias or a preset is followed', () => {
  const on = view({ a: 'b', b: 'writer' }, { writer: preset('agent') });
  expect(configuredName('a', on)).toEqual({
    ...{ kind: 'alias', name: 'a', target: 'agent', preset: preset('agent') },
  });
  expect(configuredName('writer', on)?.kind).toBe('preset');
});

test('cycles and presets of presets are problems and no names', () => {
  const on = view({ a: 'b', b: 'a', self: 'self' }, { one: preset('two'), two: preset('agent') });
  expect(on.names.names()).toEqual(['two']);
  expect(on.names.problems.map(({ name, message }) => `${name} ${message}`)).toEqual([
    'a leads back to itself: a → b → a',
    'b leads back to itself: b → a → b',
    'self leads back to itself: self → self',
    'one leads from one preset to another; a preset names a model, a slot or an alias',
  ]);
  expect(configuredName('a', on)).toBeNull();
});

test('a target that nothing serves is named in the error and as a problem', () => {
  const on = view({ 'gpt-4o': 'gone' });
  expect(route('gpt-4o', on).error).toMatchObject({
    code: 'dispatch.no_route',
    message: 'The alias "gpt-4o" of config.toml leads to "gone", which no slot or upstream serves.',
  });
  expect(nameProblems(on, () => false)).toMatchObject([
    { name: 'gpt-4o', message: 'leads to "gone", which no slot or upstream serves now' },
  ]);
});

test('the target of an alias is not a name that a pattern applies to', () => {
  const on = view({ 'gpt-4o': 'gpt-5', 'gpt-*': 'agent' });
  expect(configuredName('gpt-4o', on)?.target).toBe('gpt-5');
  expect(route('gpt-4o', on).error?.code).toBe('dispatch.no_route');
  const served = (target: string) => target === 'agent';
  expect(nameProblems(on, served)).toMatchObject([
    { name: 'gpt-4o', message: expect.stringContaining('"gpt-5"') },
  ]);
});

test('a name of a slot and a name that two tables have are problems', () => {
  const on = view({ agent: 'qwen', twice: 'qwen' }, { twice: preset('agent') });
  expect(nameProblems(on, () => true)).toMatchObject([
    { kind: 'alias', name: 'twice', message: 'has no effect: a preset has the same name' },
    { kind: 'alias', name: 'agent', message: 'has no effect: agent is the name of a slot' },
  ]);
});

test('a recording cannot reach an upstream by an alias', () => {
  const on = view({ 'whisper-1': 'gpt-oss' });
  expect(route('whisper-1', on, '/v1/audio/transcriptions').error?.code).toBe('dispatch.capability_mismatch');
});
