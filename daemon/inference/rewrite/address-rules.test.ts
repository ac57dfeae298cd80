import { describe, expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { plainModelRef } from '../dispatch/model-ref.ts';
import { registeredModel, routingView } from '../testing/builders.ts';
import { rewriteModelRef } from './deviations.ts';
import { npuSuffix } from './npu-suffix.ts';
import { slotAlias } from './slot-alias.ts';
import { virtualName } from './virtual-name.ts';

describe('slot-alias', () => {
  const home = routingView({
    slots: [slotRecord({ name: 'agent', model: 'qwen' }), slotRecord({ name: 'embed', type: 'embedding' })],
  });
  test('the name of an LLM slot becomes its model, with the slot as lane', () => {
    expect(slotAlias(plainModelRef('agent'), home, 'llm')).toEqual({
      requested: 'agent',
      model: 'qwen',
      lane: 'agent',
      chain: [],
      by: 'slot-alias',
    });
  });
  test('agent-hermes means agent, unless a slot has that name', () => {
    expect(slotAlias(plainModelRef('agent-hermes'), home, 'llm')).toMatchObject({
      model: 'qwen',
      lane: 'agent',
    });
    const own = routingView({
      slots: [...home.slots, slotRecord({ name: 'agent-hermes', model: 'hermes' })],
    });
    expect(slotAlias(plainModelRef('agent-hermes'), own, 'llm')).toMatchObject({
      model: 'hermes',
      lane: 'agent-hermes',
    });
  });
  test.each(['embed', 'qwen', 'Agent', 'unknown'])('%s is not a chat alias', (name) => {
    expect(slotAlias(plainModelRef(name), home, 'llm')).toEqual(plainModelRef(name));
  });
  test('the model id of the slot refers to the model and is not rewritten', () => {
    const on = routingView({ slots: [slotRecord({ name: 'beta', model: 'beta' })] });
    expect(slotAlias(plainModelRef('beta'), on, 'llm')).toEqual(plainModelRef('beta'));
  });
  test('a model id is not an alias of a slot with another model, but specified names refer to the slot', () => {
    const slots = [
      slotRecord({ name: 'beta', model: 'Gamma' }),
      slotRecord({ name: 'agent', model: 'qwen' }),
    ];
    const named = (...ids: string[]) =>
      routingView({ slots, models: ids.map((id) => registeredModel({ id })) });
    expect(slotAlias(plainModelRef('beta'), named('beta'), 'llm')).toEqual(plainModelRef('beta'));
    expect(slotAlias(plainModelRef('beta'), named('Gamma'), 'llm')).toMatchObject({ lane: 'beta' });
    expect(slotAlias(plainModelRef('agent'), named('agent'), 'llm')).toMatchObject({ lane: 'agent' });
    expect(virtualName(plainModelRef('svc/beta'), named('beta'))).toMatchObject({
      lane: 'beta',
      model: 'Gamma',
    });
  });
  test('any other slot is named on the routes of its type', () => {
    const one = slotRecord({ name: 'embed2', type: 'embedding', model: 'vec-b' });
    const on = routingView({ slots: [...home.slots, one] });
    expect(slotAlias(plainModelRef('embed2'), on, 'embedding')).toMatchObject({
      model: 'vec-b',
      lane: 'embed2',
    });
    expect(slotAlias(plainModelRef('agent'), on, 'embedding')).toMatchObject({ lane: 'agent' });
    expect(slotAlias(plainModelRef('embed2'), on, 'rerank')).toEqual(plainModelRef('embed2'));
  });
});

describe('npu-suffix', () => {
  const npu = routingView({
    slots: [slotRecord({ name: 'npu', engine: 'flm', model: 'llama3.2:1b' })],
    models: [
      registeredModel({ id: 'Qwen3:4b', binding: 'slot:npu' }),
      registeredModel({ id: 'gemma:2b', binding: 'slot:agent' }),
      registeredModel({ id: 'gemma4-it:e2b', format: 'flm', binding: null }),
    ],
  });
  test.each([
    ['llama3.2:1b-flm', 'llama3.2:1b'],
    ['llama3.2-1b-flm', 'llama3.2:1b'],
    ['LLAMA3.2-1B-FLM', 'llama3.2:1b'],
    ['qwen3:4b-flm', 'Qwen3:4b'],
    ['gemma4-it-e2b-FLM', 'gemma4-it:e2b'],
  ])('%s is the tag %s', (name, tag) => {
    expect(npuSuffix(plainModelRef(name), npu)).toMatchObject({ model: tag, by: 'npu-suffix', lane: null });
  });
  test.each(['gemma:2b-flm', 'unknown-flm', 'llama3.2:1b', '-flm'])('%s is not rewritten', (name) => {
    expect(npuSuffix(plainModelRef(name), npu)).toEqual(plainModelRef(name));
  });
  test('the suffix is a setting', () => {
    expect(npuSuffix(plainModelRef('llama3.2:1b-xdna'), { ...npu, npuSuffix: 'xdna' })).toMatchObject({
      model: 'llama3.2:1b',
    });
  });
});

describe('virtual-name', () => {
  const agent = slotRecord({ name: 'agent', model: 'big' });
  const utility = slotRecord({ name: 'utility', model: 'small', state: 'offline' });
  const embed = slotRecord({ name: 'embed', type: 'embedding', model: 'e5' });
  const resolve = (name: string, slots = [agent, utility, embed]) =>
    virtualName(plainModelRef(name), routingView({ slots }));

  test('svc/agent is slot agent, svc/<slot> is that slot', () => {
    expect(resolve('svc/agent')).toMatchObject({ lane: 'agent', model: 'big', chain: [] });
    expect(resolve('svc/embed')).toMatchObject({ lane: 'embed', model: 'e5', chain: [] });
  });
  test('svc/utility falls back to agent, also while it is offline', () => {
    expect(resolve('svc/utility')).toMatchObject({ lane: 'utility', chain: ['agent'] });
  });
  test('a slot that is in ERROR or absent is replaced by the next of the chain', () => {
    expect(resolve('svc/utility', [agent, { ...utility, state: 'error' }])).toMatchObject({
      lane: 'agent',
      chain: [],
    });
    expect(resolve('svc/utility', [agent])).toMatchObject({ lane: 'agent' });
  });
  test('svc/npu is the NPU slot, then utility, then agent', () => {
    expect(resolve('svc/npu')).toMatchObject({ lane: 'utility', chain: ['agent'] });
    const npu = slotRecord({ name: 'fast', engine: 'flm', model: 'tag' });
    expect(resolve('svc/npu', [agent, utility, npu])).toMatchObject({
      lane: 'fast',
      chain: ['utility', 'agent'],
    });
  });
  test('all in ERROR: the first stays the lane, and its slot decides', () => {
    expect(resolve('svc/agent', [{ ...agent, state: 'error' }])).toMatchObject({ lane: 'agent' });
  });
  test('a name without a slot is 404 with similar names', () => {
    const error = expect.objectContaining({ code: 'dispatch.no_route', status: 404 });
    expect(() => resolve('svc/agnet')).toThrowError(error);
    try {
      resolve('svc/agnet');
    } catch (thrown) {
      expect((thrown as { options: { details: unknown } }).options.details).toMatchObject({
        suggestions: expect.arrayContaining(['svc/agent']),
      });
    }
  });
});

test('only one rule rewrites: a slot whose model looks like an alias is not followed further', () => {
  const slots = [
    slotRecord({ name: 'agent', model: 'utility' }),
    slotRecord({ name: 'utility', model: 'svc/agent' }),
  ];
  expect(rewriteModelRef(plainModelRef('agent'), routingView({ slots }), 'llm')).toMatchObject({
    model: 'utility',
    lane: 'agent',
  });
});
