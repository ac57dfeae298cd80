import { expect, onTestFinished, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { silentLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openStore } from '../store/store.ts';
import { ModelStore } from './model-store.ts';
import { NO_TEXT, type RegisteredModel } from './registered-model.ts';

const DAY_MS = 86_400_000;

const model: RegisteredModel = {
  ...NO_TEXT,
  id: 'a',
  name: 'a',
  type: 'llm',
  format: 'gguf',
  architecture: null,
  quantization: null,
  kvBytesPerToken: null,
  capabilities: {},
  size_bytes: 5,
  created: 1,
  source: 'scan',
  path: '/m/a.gguf',
  files: ['/m/a.gguf'],
  sizeBytes: 5,
  mtimeS: 1,
  voices: [],
  language: null,
};

test('a missing model is in no list, survives a restart, and is removed after ninety days', () => {
  const folder = scratch();
  const log = silentLog();
  const store = openStore({ folder, log });
  onTestFinished(() => {
    store.close();
  });
  let now = Date.UTC(2026, 0, 1);
  const open = () => new ModelStore(store.models, new EventBus<GatewayEvents>(), log, () => now);
  const modelStore = open();
  modelStore.put(model);
  modelStore.markMissing('a');
  expect([modelStore.list(), modelStore.get('a'), modelStore.byPath('/m/a.gguf')]).toEqual([
    [],
    undefined,
    undefined,
  ]);
  for (let day = 1; day < 90; day += 1) {
    now += DAY_MS;
    modelStore.markMissing('a');
  }
  expect(
    open()
      .absent()
      .map(({ id }) => id),
  ).toEqual(['a']);
  expect(open().restore('a')).toMatchObject({ id: 'a', path: '/m/a.gguf' });
  now += DAY_MS;
  modelStore.markMissing('a');
  expect(modelStore.absent()).toEqual([]);
  expect(store.models.all()).toEqual([]);
});
