import { describe, expect, it } from 'vitest';
import { type BindableModel, type BindingSnapshot, bindModels, MAX_BINDINGS } from './bindings.ts';

const model = (id: string, type: BindableModel['type'] = 'llm', created = 1): BindableModel => ({
  id,
  type,
  created,
});
const bind = (models: BindableModel[], over: Partial<BindingSnapshot> = {}) =>
  Object.fromEntries(
    bindModels({
      models,
      names: new Set(['agent']),
      autoModelSlots: new Set(),
      modelsInFiles: new Set(),
      heldModels: new Set(),
      previous: new Map(),
      failed: new Set(),
      ...over,
    }),
  );

describe('bindModels', () => {
  it('a voice that cannot be loaded gives its slot to another one, and keeps it while there is none', () => {
    const [broken, good, vectors] = [
      model('broken', 'tts'),
      model('good', 'tts', 2),
      model('v', 'embedding'),
    ];
    const previous = new Map([
      ['broken', 'tts'],
      ['good', 'good'],
      ['v', 'embed'],
    ]);
    const failed = new Set(['broken', 'v']);
    expect(bind([broken, good, vectors], { previous, failed })).toEqual({
      good: 'tts',
      broken: 'broken',
      v: 'embed',
    });
    expect(bind([broken, good], { failed })).toEqual({ good: 'tts', broken: 'broken' });
    expect(bind([broken], { previous, failed })).toEqual({ broken: 'tts' });
    const both = new Set(['broken', 'good']);
    expect(bind([broken, good], { previous, failed: both })).toEqual({ broken: 'tts', good: 'good' });
  });

  it('embed and rerank get the oldest matching model, all other models get separate slots', () => {
    const models = [
      model('vectors-b', 'embedding', 2),
      model('vectors-a', 'embedding', 1),
      model('ranks', 'rerank'),
      model('Chat.Two'),
      model('chat-one'),
    ];
    expect(bind(models, { heldModels: new Set(['chat-one']) })).toEqual({
      'vectors-a': 'embed',
      'vectors-b': 'vectors-b',
      ranks: 'rerank',
      'Chat.Two': 'chat-two',
    });
  });

  it('a model that a file names has no second slot', () => {
    expect(bind([model('a'), model('v', 'embedding')], { modelsInFiles: new Set(['a', 'v']) })).toEqual({});
  });

  it('a new model never replaces a bound one, however old its file is', () => {
    const models = [model('first', 'embedding', 5), model('second', 'embedding', 1)];
    const previous = new Map([['first', 'embed']]);
    expect(bind(models, { previous })).toEqual({ first: 'embed', second: 'second' });
  });

  it('embed gets the next model when its own was removed', () => {
    const previous = new Map([
      ['gone', 'embed'],
      ['next', 'next'],
    ]);
    expect(bind([model('next', 'embedding')], { previous })).toEqual({ next: 'embed' });
  });

  it('a binding stays while agent also holds the model', () => {
    const previous = new Map([['big', 'big']]);
    expect(bind([model('big')], { previous, heldModels: new Set(['big']) })).toEqual({ big: 'big' });
  });

  it('a slot file takes the name, unless it names no model', () => {
    const models = [model('v', 'embedding'), model('utility-7b')];
    const names = new Set(['embed', 'utility-7b']);
    expect(bind(models, { names })).toEqual({ v: 'v', 'utility-7b': 'utility-7b-2' });
    expect(bind(models, { names, autoModelSlots: new Set(['embed']) })).toEqual({
      v: 'embed',
      'utility-7b': 'utility-7b-2',
    });
    expect(bind(models, { names, previous: new Map([['v', 'embed']]) })).toMatchObject({ v: 'v' });
  });

  it('a slot never has the id of another model', () => {
    expect(bind([model('Foo', 'llm', 1), model('foo', 'llm', 2)])).toEqual({ Foo: 'foo-2', foo: 'foo' });
    const previous = new Map([['Foo', 'foo']]);
    expect(bind([model('Foo'), model('foo')], { previous })).toEqual({ Foo: 'foo-2', foo: 'foo' });
  });

  it('a stored name of another type is ignored', () => {
    expect(bind([model('chat')], { previous: new Map([['chat', 'rerank']]) })).toEqual({ chat: 'chat' });
  });

  it('the number of bindings is bounded', () => {
    const many = Array.from({ length: MAX_BINDINGS + 5 }, (_, i) => model(`m${i}`));
    expect(Object.keys(bind(many))).toHaveLength(MAX_BINDINGS);
  });
});
