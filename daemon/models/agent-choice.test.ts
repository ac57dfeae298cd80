import { expect, test } from 'vitest';
import { AgentChoice } from './agent-choice.ts';
import type { RegisteredModel } from './registered-model.ts';

const model = (id: string, size: number, more: Partial<RegisteredModel> = {}) =>
  ({
    ...{ id, type: 'llm', format: 'gguf', demo: false, chatTemplate: true, path: `/m/${id}.gguf`, mtimeS: 1 },
    ...{ sizeBytes: size, contextTrain: 0, kvBytesPerToken: 0, contextMemory: null },
    ...more,
  }) as RegisteredModel;
const demo = model('demo', 1, { demo: true });

/** A choice over changeable models, with a store that survives `reopen`. */
function bench(...models: RegisteredModel[]) {
  const stored = new Map<string, string>();
  const state = { models, absent: [] as string[] };
  const store = {
    get: (key: string) => stored.get(key) ?? null,
    set: (key: string, text: string) => void stored.set(key, text),
  };
  const open = () => new AgentChoice({ store, models: () => state.models, absentIds: () => state.absent });
  return { state, store, open, choice: open() };
}
const chosen = (choice: AgentChoice) => choice.choose(null)?.id ?? null;
const offered = (choice: AgentChoice) => choice.offer(null)?.id ?? null;

test('the largest model is chosen until one has served; then that one stays, also after a restart', () => {
  const { state, choice, open } = bench(model('a', 10));
  state.models = [...state.models, model('b', 20)];
  expect(chosen(choice)).toBe('b');
  choice.loaded('b', true);
  state.models = [...state.models, model('c', 30)];
  expect([chosen(choice), offered(choice)]).toEqual(['b', 'c']);
  expect([chosen(open()), offered(open())]).toEqual(['b', 'c']);
});

test('another slot, a named model and the demonstration model decide nothing', () => {
  const { choice } = bench(demo, model('a', 10), model('b', 20));
  choice.loaded('a', false);
  choice.loaded('demo', true);
  expect([chosen(choice), choice.hasServed]).toEqual(['b', false]);
});

test('the owner decides: a model, and with it against all others', () => {
  const { state, choice } = bench(model('a', 10), model('b', 20));
  choice.decide('a');
  expect([chosen(choice), offered(choice)]).toEqual(['a', null]);
  state.models = [...state.models, model('c', 30)];
  expect(offered(choice)).toBe('c');
});

test('a model that failed is neither chosen nor offered until its file changes or it loads', () => {
  const { state, choice, open } = bench(model('a', 10), model('b', 20));
  choice.failed('b');
  expect([chosen(choice), chosen(open())]).toEqual(['a', 'a']);
  choice.loaded('a', true);
  expect(offered(choice)).toBeNull();
  choice.loaded('b', false);
  expect(offered(choice)).toBe('b');
  choice.failed('b');
  state.models = [model('a', 10), model('b', 20, { mtimeS: 2 })];
  expect(offered(choice)).toBe('b');
});

test('the model that serves stays when it fails, and the only real model is tried again', () => {
  const { choice } = bench(model('a', 10), model('b', 20));
  choice.loaded('b', true);
  choice.failed('b');
  expect(chosen(choice)).toBe('b');
  const { choice: lonely } = bench(model('a', 10));
  lonely.failed('a');
  expect(chosen(lonely)).toBe('a');
});

test('the demonstration model comes before a real one that failed', () => {
  const { choice } = bench(demo, model('a', 10));
  choice.failed('a');
  expect(chosen(choice)).toBe('demo');
});

test('an absent model is still the choice, a removed one is not', () => {
  const { state, choice } = bench(model('a', 10), model('b', 20));
  choice.loaded('b', true);
  state.models = [model('a', 10)];
  state.absent = ['b'];
  choice.loaded('a', true);
  state.models = [model('a', 10), model('b', 20)];
  expect(chosen(choice)).toBe('b');
  state.models = [model('a', 10)];
  state.absent = [];
  choice.loaded('a', true);
  state.models = [model('a', 10), model('b', 20)];
  expect(chosen(choice)).toBe('a');
});

test('a smaller model and one that does not fit are not offered', () => {
  const { choice } = bench(model('a', 10), model('b', 5), model('c', 1e12));
  choice.decide('a');
  const { choice: fresh } = bench(model('a', 10), model('b', 5), model('c', 1e12));
  fresh.loaded('a', true);
  expect(fresh.offer(1e9)).toBeNull();
  expect(offered(choice)).toBeNull();
});

test.each(['', '{', '[]', '{"model":3}'])('an unreadable store %j counts as empty', (text) => {
  const { store, open } = bench(model('a', 10));
  store.set('models.agent', text);
  expect(chosen(open())).toBe('a');
});
