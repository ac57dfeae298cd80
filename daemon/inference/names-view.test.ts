import { expect, test } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import type { Preset } from '../settings/name-tables.ts';
import { ConfiguredNames } from './dispatch/configured-names.ts';
import { NONE_REPORTED } from './images/resolve-model.ts';
import { namesView } from './names-view.ts';
import { routingView, upstreamConfigOf } from './testing/builders.ts';

const preset = (model: string, more: Partial<Preset> = {}): Preset => ({
  ...{ model, set: {}, default: {}, strip: [], system: '' },
  ...more,
});
const namesOf = (aliases: Record<string, string>, presets: Record<string, Preset> = {}) =>
  namesView(
    routingView({
      slots: [slotRecord({ name: 'agent', model: 'qwen' }), slotRecord({ name: 'empty', model: null })],
      upstreams: [upstreamConfigOf({ name: 'desk', models: ['gpt-oss'] })],
      names: new ConfiguredNames({ aliases, presets }),
    }),
    NONE_REPORTED,
  );
const NOWHERE = { model: null, slot: null, upstream: null };
const NO_CHANGES = { set: [], default: [], strip: [], system: false };

test('an alias and a preset show what serves them', () => {
  const writer = preset('agent', {
    ...{
      set: { temperature: 1 },
      default: { top_p: 0.5, seed: 1 },
      strip: ['logprobs'],
      system: 'Be brief.',
    },
  });
  expect(namesOf({ near: 'writer', far: 'gpt-oss' }, { writer })).toEqual([
    {
      ...{ kind: 'alias', name: 'near', target: 'writer', model: 'qwen', slot: 'agent', upstream: null },
      ...{ ...NO_CHANGES, problem: null },
    },
    {
      ...{ kind: 'alias', name: 'far', target: 'gpt-oss', model: 'gpt-oss', slot: null, upstream: 'desk' },
      ...{ ...NO_CHANGES, problem: null },
    },
    {
      ...{ kind: 'preset', name: 'writer', target: 'agent', model: 'qwen', slot: 'agent', upstream: null },
      ...{ set: ['temperature'], default: ['top_p', 'seed'], strip: ['logprobs'], system: true },
      problem: null,
    },
  ]);
});

test.each([
  ['the name of a slot without a model', 'empty', { model: 'empty', slot: 'empty', upstream: null }],
  ['a virtual name', 'svc/agent', { model: 'qwen', slot: 'agent', upstream: null }],
  ['a model of a slot', 'qwen', { model: 'qwen', slot: 'agent', upstream: null }],
])('an alias of %s', (_, target, expected) => {
  expect(namesOf({ name: target })).toMatchObject([{ ...expected, problem: null }]);
});

test('patterns come after exact names, each with its own target', () => {
  expect(namesOf({ '*': 'agent', 'gpt-*': 'gpt-oss', exact: 'agent' })).toMatchObject([
    { name: 'exact', slot: 'agent' },
    { name: '*', kind: 'alias', slot: 'agent', problem: null },
    { name: 'gpt-*', kind: 'alias', upstream: 'desk', problem: null },
  ]);
});

test.each([
  [
    'a target that nothing serves',
    { name: 'gone' },
    {},
    /leads to "gone", which no slot or upstream serves now/,
  ],
  ['a pattern whose target nothing serves', { 'a*': 'gone' }, {}, /leads to "gone"/],
  ['a target that only a pattern matches', { name: 'gpt-5', 'gpt-*': 'agent' }, {}, /leads to "gpt-5"/],
  ['a cycle', { name: 'name' }, {}, /leads back to itself/],
  ['the name of a slot', { agent: 'gpt-oss' }, {}, /is the name of a slot/],
  [
    'a preset of a preset',
    {},
    { name: preset('other'), other: preset('agent') },
    /from one preset to another/,
  ],
])('%s is a problem, and nothing serves it', (_, aliases, presets, problem) => {
  const rows = namesOf(aliases as Record<string, string>, presets as Record<string, Preset>);
  const faulty = rows.filter((each) => each.problem !== null);
  expect(faulty).toMatchObject([{ ...NOWHERE, problem: expect.stringMatching(problem) }]);
});

test('a preset works although an alias has the same name', () => {
  expect(namesOf({ twice: 'gpt-oss' }, { twice: preset('agent') })).toMatchObject([
    { kind: 'preset', name: 'twice', slot: 'agent', problem: null },
    { kind: 'alias', name: 'twice', ...NOWHERE, problem: 'has no effect: a preset has the same name' },
  ]);
});
