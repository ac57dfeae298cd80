import { describe, expect, test } from 'vitest';
import { V1ModelList } from '../contract/models.ts';
import type { SlotRecord } from '../contract/slots.ts';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { curatedModel, type ImageModel } from '../models/images/curated.ts';
import { findModel, listModels } from './catalogue.ts';
import { ConfiguredNames } from './dispatch/configured-names.ts';
import type { RoutingView } from './dispatch/routing-view.ts';
import { modelOfFile } from './images/own-model.ts';
import { registeredModel, routingView, upstreamConfigOf } from './testing/builders.ts';

const home = routingView({
  slots: [
    slotRecord({ name: 'agent', model: 'org/qwen', context: 4096 }),
    slotRecord({
      name: 'embed',
      type: 'embedding',
      model: 'e5',
      state: 'offline',
      context: null,
      device: null,
    }),
    slotRecord({ name: 'tts', type: 'tts', model: 'voice' }),
    slotRecord({ name: 'img', type: 'image', model: null }),
  ],
  models: [
    registeredModel({
      id: 'org/qwen',
      name: 'Qwen',
      context_length: 262_144,
      binding: 'slot:agent',
      created: 1_600_000_000,
    }),
    registeredModel({ id: 'e5', type: 'embedding', context_length: 512, binding: 'slot:embed' }),
    registeredModel({ id: 'orphan', binding: 'slot:disabled' }),
    registeredModel({ id: 'loose', binding: null }),
  ],
  upstreams: [upstreamConfigOf({ name: 'Cloud', models: ['far', 'org/qwen'] })],
});
const ids = (showAll = false, owners: string[][] = []) =>
  listModels(home, { showAll, owners }).map(({ id }) => id);

test('models, aliases and virtual names; image, tts and stt stay hidden with their aliases', () => {
  expect(ids()).toEqual([
    'org/qwen',
    'e5',
    'agent',
    'embed',
    'agent-hermes',
    'svc/agent',
    'svc/utility',
    'svc/embed',
    'far',
  ]);
  expect(ids(true)).toEqual(expect.arrayContaining(['voice', 'tts', 'svc/tts', 'img', 'svc/img']));
});

test('the record of a slot names the slots that share its engine', () => {
  const one = {
    ...slotRecord({ name: 'agent', model: 'small', active: 1, queued: 2 }),
    sharesWith: ['second'],
  };
  const slots = [one, slotRecord({ name: 'other', model: 'large' })];
  const all = listModels(routingView({ slots }), { showAll: false, owners: [] });
  const shares = Object.fromEntries(all.map(({ id, _svc }) => [id, _svc.shares]));
  expect(shares).toMatchObject({ small: ['second'], agent: ['second'], 'svc/agent': ['second'] });
  expect([shares.large, shares.other]).toEqual([undefined, undefined]);
  expect(V1ModelList.parse({ object: 'list', data: all }).data).toEqual(all);
});

test('an image slot whose file names no model is not listed', () => {
  const slots = [slotRecord({ name: 'bare', type: 'image', engine: 'comfyui', model: 'bare' })];
  expect(listModels(routingView({ slots }), { showAll: true, owners: [] }).map(({ id }) => id)).not.toContain(
    'bare',
  );
});

test('image slots list their models by curated ids; models of an upstream keep its ids, as in dispatch', () => {
  const slots = [
    slotRecord({ name: 'img', type: 'image', engine: 'comfyui', model: 'sdxl-turbo' }),
    slotRecord({ name: 'cpp', type: 'image', engine: 'sd-server', model: 'v1-5-pruned-emaonly' }),
    slotRecord({ name: 'other', type: 'image', engine: 'comfyui', model: null }),
  ];
  const studio = routingView({ slots, upstreams: [upstreamConfigOf({ name: 'far', models: ['flux-dev'] })] });
  const own = modelOfFile('dreamshaper_8.safetensors', { family: 'sd15', source: 'header' });
  const files: Record<string, ImageModel[]> = {
    img: ['sdxl', 'flux-dev'].map((id) => curatedModel(id) as ImageModel),
    other: [curatedModel('flux-schnell') as ImageModel, own],
  };
  const draws = { of: (slot: string) => files[slot] ?? [], isKnown: () => true };
  const owners = Object.fromEntries(
    listModels(studio, { showAll: true, owners: [] }, draws).map(({ id, owned_by, _svc }) => [
      id,
      _svc.slot ?? owned_by,
    ]),
  );
  expect(owners).toMatchObject({ 'sdxl-turbo': 'img', sdxl: 'img', sd15: 'cpp', 'flux-dev': 'far' });
  expect(owners).toMatchObject({ 'flux-schnell': 'other', 'dreamshaper_8.safetensors': 'other' });
  expect(findModel(studio, 'sdxl', draws)).toMatchObject({ name: 'Stable Diffusion XL 1.0' });
  expect(listModels(studio, { showAll: false, owners: [] }, draws)).toEqual([]);
});

test('every record matches its schema, and a window is a number or absent', () => {
  const data = listModels(home, { showAll: true, owners: [] });
  expect(V1ModelList.parse({ object: 'list', data }).data).toEqual(data);
  expect(new Set(data.map(({ id }) => id)).size).toBe(data.length);
  for (const { context_length: window, max_model_len, description, meta } of data) {
    expect(window === undefined || (Number.isInteger(window) && window > 0)).toBe(true);
    expect(max_model_len).toBe(window);
    expect(meta.description).toBe(description);
  }
  expect(JSON.stringify(data)).not.toMatch(/http:|\/home|\.gguf/);
});

const unknownSlot = (more: Partial<SlotRecord> = {}) =>
  slotRecord({ name: 'agent', model: 'a', context: null, ...more });
const unknownModel = (more: object) =>
  registeredModel({ id: 'a', context_length: null, binding: 'slot:agent', ...more });

test.each<[string, Partial<RoutingView>, string[]]>([
  ['a loaded slot', { slots: [unknownSlot()] }, ['a', 'agent', 'svc/agent']],
  ['an attached server', { slots: [unknownSlot({ runner: 'attach', engine: 'custom' })] }, ['a', 'agent']],
  ['a slot that has not loaded yet', { slots: [unknownSlot({ state: 'offline' })] }, ['a', 'agent']],
  ['a failed slot', { slots: [unknownSlot({ state: 'error' })] }, ['a', 'agent']],
  [
    'a file without a context length in its header',
    { slots: [unknownSlot({ state: 'offline' })], models: [unknownModel({})] },
    ['a'],
  ],
  [
    'a model folder of vLLM',
    { slots: [], models: [unknownModel({ binding: null, format: 'safetensors' })] },
    [],
  ],
  ['an embedding slot', { slots: [unknownSlot({ type: 'embedding' })] }, ['a']],
  [
    'an upstream whose list does not say',
    { upstreams: [upstreamConfigOf({ name: 'far', models: ['b'] })] },
    ['b'],
  ],
  [
    'an alias to such a slot',
    {
      slots: [unknownSlot()],
      names: new ConfiguredNames({ aliases: { 'gpt-4o': 'agent' }, presets: {} }),
    },
    ['gpt-4o'],
  ],
])('an unknown context window is absent: %s', (_, view, ids) => {
  const records = listModels(routingView(view), { showAll: true, owners: [] });
  expect(records.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  for (const record of records) {
    expect(record).not.toHaveProperty('context_length');
    expect(record).not.toHaveProperty('max_model_len');
    expect(JSON.stringify(record)).not.toMatch(/"(context|max)_[a-z_]+":(null|0|4096)/);
  }
});

test('the context window is that of the slot, otherwise that of the file header', () => {
  expect(findModel(home, 'org/qwen')).toMatchObject({ context_length: 4096, max_model_len: 4096 });
  expect(findModel(home, 'e5')).toMatchObject({ context_length: 512 });
});

test('before a load, the context window is the one that a load would use', () => {
  const slots = [
    { ...slotRecord({ name: 'agent', model: 'big', state: 'offline', context: null }), window: 8192 },
  ];
  const models = [registeredModel({ id: 'big', context_length: 262_144, binding: 'slot:agent' })];
  const unloaded = routingView({ slots, models });
  for (const id of ['big', 'agent', 'svc/agent'])
    expect(findModel(unloaded, id)).toMatchObject({ context_length: 8192, max_model_len: 8192 });
});

const NPU = { engine: 'flm', model: 'tag:1b', device: 'npu' };
const npu = slotRecord({ name: 'npu', ...NPU });
test.each([
  ['no NPU slot', [], true, []],
  ['an NPU slot and an NPU', [npu], true, ['tag:1b', 'npu', 'svc/npu']],
  [
    'an NPU slot of another name',
    [slotRecord({ name: 'low', ...NPU })],
    true,
    ['tag:1b', 'low', 'svc/npu', 'svc/low'],
  ],
  ['an NPU slot without an NPU', [npu], false, []],
  ['an attached NPU engine', [{ ...npu, runner: 'attach' }], false, ['tag:1b', 'npu', 'svc/npu']],
  [
    'a slot npu that runs on another device',
    [slotRecord({ name: 'npu', model: 'small' })],
    false,
    ['small', 'npu', 'svc/npu'],
  ],
])('names of an NPU are listed with the device: %s', (_, slots, hasNpu, expected) => {
  const view = routingView({ slots: [slotRecord({ name: 'agent', model: 'big' }), ...slots] });
  const names = listModels(view, { showAll: true, owners: [], hasNpu }).map(({ id }) => id);
  expect(names.filter((id) => !/agent|utility|big/.test(id))).toEqual(expected);
  expect(findModel(view, 'svc/npu')).toBeDefined();
});

test.each([
  [[], ['org/qwen', 'e5', 'agent', 'embed', 'agent-hermes', 'svc/agent', 'svc/utility', 'svc/embed', 'far']],
  [
    ['agent', 'far'],
    ['agent', 'far'],
  ],
  [['svc/*'], ['svc/agent', 'svc/utility', 'svc/embed']],
  [
    ['*e5', 'org/*'],
    ['org/qwen', 'e5'],
  ],
  [['nothing'], []],
  [['AGENT'], []],
])('models.listed %j', (listed, expected) => {
  expect(listModels(home, { showAll: false, owners: [], listed }).map(({ id }) => id)).toEqual(expected);
  expect(findModel(home, 'e5')).toBeDefined();
});

test('models of upstreams whose names say image, tts or stt are hidden; their lists decide first', () => {
  const models = ['whisper-1', 'tts-1', 'dall-e-3', 'flux-dev', 'gpt-4o', 'text-embedding-3-small'];
  const far = upstreamConfigOf({ name: 'far', models });
  const declared = { ...far, models: far.models.map((model) => ({ ...model, type: 'llm' as const })) };
  const listOf = (upstream: typeof far, showAll: boolean) =>
    listModels(routingView({ upstreams: [upstream] }), { showAll, owners: [] });
  expect(listOf(far, false).map(({ id }) => id)).toEqual(['gpt-4o', 'text-embedding-3-small']);
  expect(listOf(far, true).map(({ capabilities }) => Object.keys(capabilities)[0])).toEqual([
    'transcription',
    'speech',
    'image_generation',
    'image_generation',
    'chat',
    'embeddings',
  ]);
  expect(listOf(declared, false).map(({ id }) => id)).toEqual(models);
});

test.each([
  ['org/qwen', 'Chat model in slot agent of this gateway.'],
  ['agent', 'Slot agent, now org/qwen.'],
  ['img', 'Slot img, without a model.'],
  ['agent-hermes', 'Slot agent, now org/qwen.'],
  ['svc/agent', 'Slot agent, now org/qwen.'],
  ['svc/utility', 'Slot utility or, without it, agent: now slot agent with org/qwen.'],
  ['far', 'Model of the provider Cloud.'],
  ['voice', 'Text-to-speech model in slot tts of this gateway.'],
])('%s is described: %s', (id, description) =>
  expect(findModel(home, id)).toMatchObject({ description, meta: { description } }),
);

test('a local model hides a model of an upstream with the same id', () => {
  expect(findModel(home, 'org/qwen')).toMatchObject({
    owned_by: 'svc',
    name: 'Qwen',
    created: 1_600_000_000,
  });
  expect(findModel(home, 'far')).toMatchObject({ owned_by: 'Cloud', _svc: { slot: null } });
});

test('an alias lists what it resolves to', () => {
  expect(findModel(home, 'agent')?._svc).toEqual({
    slot: 'agent',
    state: 'ready',
    is_alias: true,
    resolves_to: 'org/qwen',
    device: 'cpu',
  });
  expect(findModel(home, 'svc/utility')?._svc).toMatchObject({
    slot: 'agent',
    virtual: true,
    resolves_to: 'org/qwen',
  });
});

test('a virtual name lists the slot that dispatch chooses, skipping one in ERROR', () => {
  const slots = [
    slotRecord({ name: 'agent', model: 'big' }),
    slotRecord({ name: 'utility', model: 'small', state: 'error' }),
  ];
  expect(findModel(routingView({ slots }), 'svc/utility')?._svc).toMatchObject({
    slot: 'agent',
    resolves_to: 'big',
  });
  expect(findModel(routingView({ slots: slots.slice(1) }), 'svc/utility')?._svc).toMatchObject({
    slot: 'utility',
  });
});

test('an id that is also a slot name lists what dispatch chooses', () => {
  const slots = [
    slotRecord({ name: 'beta', model: 'Gamma' }),
    slotRecord({ name: 'beta-2', model: 'beta' }),
    slotRecord({ name: 'agent', model: 'big' }),
    slotRecord({ name: 'agent-2', model: 'agent' }),
  ];
  const on = routingView({ slots, models: ['beta', 'agent'].map((id) => registeredModel({ id })) });
  expect(findModel(on, 'beta')?._svc).toMatchObject({ slot: 'beta-2' });
  expect(findModel(on, 'beta')?._svc).not.toHaveProperty('is_alias');
  expect(findModel(on, 'svc/beta')?._svc).toMatchObject({ slot: 'beta', resolves_to: 'Gamma' });
  expect(findModel(on, 'agent')?._svc).toMatchObject({ slot: 'agent', is_alias: true, resolves_to: 'big' });
  const withOneSlot = routingView({ ...on, slots: slots.slice(0, 1) });
  expect(findModel(withOneSlot, 'beta')).toBeUndefined();
});

describe('owner filters', () => {
  test('lists match exactly, ignoring case; two lists must both match', () => {
    expect(ids(false, [['cloud']])).toEqual(['far']);
    expect(ids(false, [['svc', 'CLOUD'], ['cloud']])).toEqual(['far']);
    expect(ids(false, [['svc'], ['cloud']])).toEqual([]);
    expect(ids(false, [['clou']])).toEqual([]);
    expect(ids(false, [['unknown']])).toEqual([]);
  });
  test('an empty list filters nothing', () => {
    expect(ids(false, [[], ['', ' ']])).toEqual(ids());
  });
});

describe('lookup by id', () => {
  test('ignores both filters and takes ids with slashes', () => {
    for (const id of ['voice', 'svc/tts', 'org/qwen', 'svc/agent', 'agent-hermes'])
      expect(findModel(home, id)?.id).toBe(id);
  });
  test.each([
    '../api/config',
    '..%2f..%2fapi',
    '__proto__',
    'constructor',
    'toString',
    '',
    'orphan',
    'loose',
    'ORG/QWEN',
  ])('%j is unknown', (id) => {
    expect(findModel(home, id)).toBeUndefined();
  });
});

test('an empty gateway lists nothing', () => {
  expect(listModels(routingView(), { showAll: true, owners: [] })).toEqual([]);
});

test('the description says what a record is', () => {
  const slots = [
    slotRecord({ name: 'agent', model: 'toy', demo: true }),
    slotRecord({ name: 'utility', model: null, state: 'offline' }),
  ];
  const upstreams = [
    upstreamConfigOf({ name: 'desk', models: ['near'], remote: false, isHealthy: false }),
    upstreamConfigOf({ name: 'cloud', models: ['far'] }),
  ];
  const models = [registeredModel({ id: 'toy', binding: 'slot:agent', chat_template: 'chatml' })];
  const view = routingView({ slots, upstreams, models });
  const described = Object.fromEntries(
    listModels(view, { showAll: true, owners: [] }).map(({ id, description }) => [id, description]),
  );
  expect(described).toEqual({
    toy: 'Demonstration model in slot agent.',
    agent: 'Slot agent, now toy.',
    utility: 'Slot utility, without a model.',
    'agent-hermes': 'Slot agent, now toy.',
    'svc/agent': 'Slot agent, now toy.',
    'svc/utility': 'Slot utility or, without it, agent: now slot utility with no model.',
    near: 'Model of the upstream desk.',
    far: 'Model of the provider cloud.',
  });
  expect(findModel(view, 'toy')?._svc).toMatchObject({ demo: true, chat_template: 'chatml' });
  expect(findModel(view, 'near')?._svc.state).toBe('offline');
  expect(findModel(view, 'far')?._svc).not.toHaveProperty('demo');
});

test('a model that is bound to an upstream is listed while that upstream exists', () => {
  const models = [registeredModel({ id: 'm', binding: 'upstream:desk', capabilities: { tools: true } })];
  const bound = routingView({ models, upstreams: [upstreamConfigOf({ name: 'desk', remote: false })] });
  expect(findModel(bound, 'm')).toMatchObject({
    ...{ owned_by: 'desk', description: 'Model of the upstream desk.', _svc: { slot: null, state: 'ready' } },
    capabilities: { chat: true, tools: true },
  });
  expect(findModel(routingView({ models }), 'm')).toBeUndefined();
});

test('configured names describe their target and say what serves them', () => {
  const names = new ConfiguredNames({
    aliases: { 'gpt-4o': 'agent', near: 'org/qwen', far2: 'far', lost: 'gone' },
    presets: { writer: { model: 'gpt-4o', set: {}, default: {}, strip: [], system: '' } },
  });
  const view = { ...home, names };
  const one = (id: string) => findModel(view, id);
  expect(one('gpt-4o')).toMatchObject({
    ...{
      id: 'gpt-4o',
      name: 'gpt-4o',
      description: 'Alias of agent.',
      meta: { description: 'Alias of agent.' },
    },
    _svc: { slot: 'agent', is_alias: true, resolves_to: 'org/qwen' },
  });
  expect(one('writer')).toMatchObject({
    description: 'Preset of agent.',
    _svc: { is_alias: true, resolves_to: 'org/qwen' },
  });
  expect(one('near')?._svc).toMatchObject({ is_alias: true, resolves_to: 'org/qwen' });
  expect(one('near')?._svc).not.toHaveProperty('active');
  expect(one('far2')).toMatchObject({ owned_by: 'Cloud', _svc: { slot: null, resolves_to: 'far' } });
  expect(one('lost')).toBeUndefined();
});

test('a model that sees has images among its inputs', () => {
  const models = [{ id: 'eye', type: null, context: null, created: 5, vision: true as const }];
  const upstreams = [{ ...upstreamConfigOf({ name: 'desk' }), models }];
  expect(findModel(routingView({ upstreams }), 'eye')).toMatchObject({
    ...{ created: 5, architecture: { input_modalities: ['text', 'image'] } },
    capabilities: { chat: true, vision: true },
  });
});
