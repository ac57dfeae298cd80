import { expect, onTestFinished, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { silentLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openStore } from '../store/store.ts';
import { ModelStore } from './model-store.ts';
import { NO_TEXT, type RegisteredModel } from './registered-model.ts';
import { isDue, simulateModels } from './simulate-models.ts';
import { contextOf } from './testing/context-of.ts';

const log = silentLog();
const POINTS = [{ context: 1024, windowBytes: 1, stepBytes: 2 }];

const model = (id: string, over: Partial<RegisteredModel> = {}): RegisteredModel => ({
  ...NO_TEXT,
  id,
  name: id,
  type: 'llm',
  format: 'gguf',
  architecture: 'qwen3',
  quantization: null,
  contextMemory: contextOf(1),
  simulated: null,
  size_bytes: 1e9,
  created: 1,
  source: 'scan',
  path: `/m/${id}.gguf`,
  files: [`/m/${id}.gguf`],
  sizeBytes: 1e9,
  mtimeS: 1,
  voices: [],
  language: null,
  ...over,
});

function open() {
  const store = openStore({ folder: scratch(), log });
  onTestFinished(() => {
    store.close();
  });
  const reopened = () => new ModelStore(store.models, new EventBus<GatewayEvents>(), log);
  return { modelStore: reopened(), reopened };
}
const { signal } = new AbortController();

test.each([
  ['a large decoder', {}, true],
  ['a model without sizes', { contextMemory: null }, true],
  ['an encoder', { contextMemory: contextOf(0) }, false],
  ['a small model', { sizeBytes: 1e7 }, false],
  ['a simulated model', { simulated: POINTS }, false],
  ['a model that cannot be simulated', { simulated: [] }, false],
  ['another format', { format: 'sherpa-onnx' }, false],
] as const)('%s is due: %j %s', (_, over, expected) => {
  expect(isDue(model('a', over as Partial<RegisteredModel>))).toBe(expected);
});

test('each due model is simulated once, and the result survives a restart', async () => {
  const { modelStore, reopened } = open();
  for (const id of ['a', 'b', 'c', 'd', 'e']) modelStore.put(model(id));
  modelStore.put(model('small', { sizeBytes: 1 }));
  const calls: string[][] = [];
  const simulate = async (paths: readonly string[]) => {
    calls.push([...paths]);
    return paths.map((path) => (path === '/m/b.gguf' ? [] : POINTS));
  };
  await simulateModels({ modelStore, log, signal, simulate });
  await simulateModels({ modelStore, log, signal, simulate });
  expect(calls.map(({ length }) => length)).toEqual([4, 1]);
  const simulated = reopened()
    .list()
    .map((one) => [one.id, one.simulated]);
  expect(Object.fromEntries(simulated)).toEqual({
    a: POINTS,
    b: [],
    c: POINTS,
    d: POINTS,
    e: POINTS,
    small: null,
  });
});

test('a file that was replaced meanwhile keeps no result of the old one', async () => {
  const { modelStore } = open();
  modelStore.put(model('a'));
  const simulate = async () => {
    modelStore.put(model('a', { mtimeS: 2 }));
    return [POINTS];
  };
  await simulateModels({ modelStore, log, signal, simulate });
  expect(modelStore.get('a')?.simulated).toBeNull();
});

test('nothing is stored after the end', async () => {
  const { modelStore } = open();
  modelStore.put(model('a'));
  const end = new AbortController();
  const simulate = async () => {
    end.abort();
    return [[]];
  };
  await simulateModels({ modelStore, log, signal: end.signal, simulate });
  expect(modelStore.get('a')?.simulated).toBeNull();
});
