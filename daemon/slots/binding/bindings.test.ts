import { describe, expect, it } from 'vitest';
import { type BindableModel, type BindingPicture, bindModels, MOST_BINDINGS } from './bindings.ts';

const model = (id: string, type: BindableModel['type'] = 'llm', created = 1): BindableModel => ({
  id,
  type,
  created,
});
const bind = (models: BindableModel[], over: Partial<BindingPicture> = {}) =>
  Object.fromEntries(
    bindModels({
      models,
      names: new Set(['agent']),
      open: new Set(),
      named: new Set(),
      shown: new Set(),
      kept: new Map(),
      ...over,
    }),
  );

describe('bindModels', () => {
  it('embed and rerank take the oldest fitting model, all others a slot of their own', () => {
    const models = [
      model('vectors-b', 'embedding', 2),
      model('vectors-a', 'embedding', 1),
      model('ranks', 'rerank'),
      model('Chat.Two'),
      model('chat-one'),
    ];
    expect(bind(models, { shown: new Set(['chat-one']) })).toEqual({
      'vectors-a': 'embed',
      'vectors-b': 'vectors-b',
      ranks: 'rerank',
      'Chat.Two': 'chat-two',
    });
  });

  it('a model that a file names has no slot beside it', () => {
    expect(bind([model('a'), model('v', 'embedding')], { named: new Set(['a', 'v']) })).toEqual({});
  });

  it('a new model never takes the place of an old one, however old its file is', () => {
    const models = [model('first', 'embedding', 5), model('second', 'embedding', 1)];
    const kept = new Map([['first', 'embed']]);
    expect(bind(models, { kept })).toEqual({ first: 'embed', second: 'second' });
  });

  it('embed goes to the next model when the one it had is gone', () => {
    const kept = new Map([
      ['gone', 'embed'],
      ['next', 'next'],
    ]);
    expect(bind([model('next', 'embedding')], { kept })).toEqual({ next: 'embed' });
  });

  it('a binding stays while agent holds the model as well', () => {
    const kept = new Map([['big', 'big']]);
    expect(bind([model('big')], { kept, shown: new Set(['big']) })).toEqual({ big: 'big' });
  });

  it('a file takes the name, unless it leaves the model open', () => {
    const models = [model('v', 'embedding'), model('utility-7b')];
    const names = new Set(['embed', 'utility-7b']);
    expect(bind(models, { names })).toEqual({ v: 'v', 'utility-7b': 'utility-7b-2' });
    expect(bind(models, { names, open: new Set(['embed']) })).toEqual({
      v: 'embed',
      'utility-7b': 'utility-7b-2',
    });
    expect(bind(models, { names, kept: new Map([['v', 'embed']]) })).toMatchObject({ v: 'v' });
  });

  it('a slot is never called as another model is', () => {
    expect(bind([model('Foo', 'llm', 1), model('foo', 'llm', 2)])).toEqual({ Foo: 'foo-2', foo: 'foo' });
    const kept = new Map([['Foo', 'foo']]);
    expect(bind([model('Foo'), model('foo')], { kept })).toEqual({ Foo: 'foo-2', foo: 'foo' });
  });

  it('a kept name of another type is not believed', () => {
    expect(bind([model('chat')], { kept: new Map([['chat', 'rerank']]) })).toEqual({ chat: 'chat' });
  });

  it('is bounded', () => {
    const many = Array.from({ length: MOST_BINDINGS + 5 }, (_, i) => model(`m${i}`));
    expect(Object.keys(bind(many))).toHaveLength(MOST_BINDINGS);
  });
});
