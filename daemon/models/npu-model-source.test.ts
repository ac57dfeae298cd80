import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { RegistryView } from '../contract/models.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from '../settings/open-settings.ts';
import { openStore } from '../store/store.ts';
import { ModelStore } from './model-store.ts';
import { parseNpuList } from './npu-list.ts';
import { updateNpuModels } from './npu-model-source.ts';
import { modelView } from './registered-model.ts';
import { createRegistry } from './registry.ts';

const row = (name: string, more: object = {}) => ({ name, installed: true, url: 'https://x', ...more });
const LIST = {
  models: [
    row('llama3.2:1b', { footprint: 0.9, label: ['tool-calling'] }),
    row('qwen3:0.6b', { installed: false }),
    row('embed-gemma:300m', { footprint: 0.4 }),
    row('whisper-v3:turbo'),
  ],
};

describe('parseNpuList', () => {
  test('parses installed models', () => {
    expect(parseNpuList(JSON.stringify(LIST))).toEqual([
      { tag: 'llama3.2:1b', type: 'llm', bytes: 900_000_000, tools: true },
      { tag: 'embed-gemma:300m', type: 'embedding', bytes: 400_000_000, tools: false },
      { tag: 'whisper-v3:turbo', type: 'stt', bytes: 0, tools: false },
    ]);
  });

  test.each([
    '',
    'flm: not found',
    'null',
    '[]',
    '{"models":{}}',
    '{"models":[null,1,{}]}',
    '{"models":[{"name":"-x:1b","installed":true},{"name":"a b:1","installed":true},{"name":"x","installed":true}]}',
    '{"models":[{"name":"../../etc:1b","installed":true},{"name":"a:1b","installed":"true"}]}',
  ])('%s contains no models', (text) => expect(parseNpuList(text)).toEqual([]));

  test('the list is limited', () => {
    const models = Array.from({ length: 5_000 }, (_, i) => row(`m${i}:1b`, { footprint: -1 }));
    expect(parseNpuList(JSON.stringify({ models }))).toHaveLength(256);
  });
});

const log = createLog({ level: 'fatal' });

describe('models of the NPU backend (with a fake program)', () => {
  let home: string;
  let bin: string;
  let modelStore: ModelStore;
  const ends: (() => void)[] = [];
  beforeEach(() => {
    home = scratch();
    bin = join(home, 'bin');
    mkdirSync(bin);
    const store = openStore({ folder: join(home, 'state'), log });
    ends.push(() => store.close());
    modelStore = new ModelStore(store.models, new EventBus<GatewayEvents>(), log);
  });
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });
  const install = (list: object, ready = true) =>
    writeFileSync(
      join(bin, 'flm'),
      `#!/bin/sh
case "$*" in
  "validate --json") echo '${JSON.stringify({ ready })}'; exit ${ready ? 0 : 1};;
  "list --filter installed --json") echo '${JSON.stringify(list)}';;
  *) exit 2;;
esac
`,
      { mode: 0o755 },
    );
  const settle = () => updateNpuModels({ modelStore, path: bin });
  const ids = () => modelStore.list().map(({ id }) => id);

  test('are listed under their native tags while the backend and its NPU are available', async () => {
    await settle();
    expect(ids()).toEqual([]);
    install(LIST);
    await settle();
    await settle();
    expect(ids()).toEqual(['embed-gemma:300m', 'llama3.2:1b', 'whisper-v3:turbo']);
    expect(modelStore.get('llama3.2:1b')).toMatchObject({
      type: 'llm',
      format: 'flm',
      capabilities: { tools: true },
    });
    const views = modelStore.list().map(modelView);
    expect(views.map((view) => RegistryView.parse(view))).toEqual(views);
    install({ models: LIST.models.slice(0, 1) });
    await settle();
    expect(ids()).toEqual(['llama3.2:1b']);
    install(LIST, false);
    await settle();
    expect(ids()).toEqual([]);
    install(LIST);
    await settle();
    rmSync(join(bin, 'flm'));
    await settle();
    expect(ids()).toEqual([]);
  });

  test('are absent while the program or its NPU is unavailable, and return with their settings', async () => {
    install(LIST);
    await settle();
    modelStore.change('llama3.2:1b', { binding: 'slot:agent' });
    const outages = [
      () => install({ models: [] }),
      () => install(LIST, false),
      () => rmSync(join(bin, 'flm')),
    ];
    for (const cause of outages) {
      cause();
      await settle();
      expect(ids()).toEqual([]);
      expect(modelStore.absent()).toHaveLength(3);
      install(LIST);
      await settle();
      expect(modelStore.get('llama3.2:1b')?.binding).toBe('slot:agent');
      expect(modelStore.absent()).toEqual([]);
    }
  });

  test.each([
    ['fails', 'exit 3'],
    ['prints something else', 'echo hello'],
    ['fails to list', '[ "$1" = list ] && exit 3; echo \'{"ready":true}\''],
    ['has no list', 'echo \'{"ready":true}\''],
  ])('are unchanged when the program %s', async (_, answer) => {
    install(LIST);
    await settle();
    writeFileSync(join(bin, 'flm'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
    await settle();
    expect(ids()).toEqual(['embed-gemma:300m', 'llama3.2:1b', 'whisper-v3:turbo']);
  });

  test('are unchanged when the program times out', async () => {
    install(LIST);
    await settle();
    writeFileSync(join(bin, 'flm'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    await updateNpuModels({ modelStore, path: bin, limitMs: 100 });
    expect(ids()).toHaveLength(3);
  });

  test('never take the id of another model', async () => {
    install(LIST);
    await settle();
    const own = modelStore.get('llama3.2:1b');
    if (own === undefined) throw new Error('no model');
    modelStore.remove('llama3.2:1b');
    modelStore.put({ ...own, format: 'gguf', source: 'register' });
    await settle();
    expect(modelStore.get('llama3.2:1b')?.format).toBe('gguf');
    rmSync(join(bin, 'flm'));
    await settle();
    expect(ids()).toEqual(['llama3.2:1b']);
  });

  test('are in the registry from its first scan on', async () => {
    install(LIST);
    const settings = await openSettings({ env: { SVC_HOME: home, SVC_ESPEAK: 'off' }, log, watch: false });
    const other = openStore({ folder: join(home, 'other'), log });
    const bus = new EventBus<GatewayEvents>();
    const options = { store: other, log, bus, settings, firstScanMs: 20_000, programs: bin };
    const registry = await createRegistry(options);
    ends.push(
      registry.close,
      () => settings.close(),
      () => other.close(),
    );
    expect(registry.get('whisper-v3:turbo')).toMatchObject({ type: 'stt', format: 'flm' });
    await expect(registry.remove('whisper-v3:turbo')).rejects.toMatchObject({ code: 'model.kept' });
    await registry.change('whisper-v3:turbo', { binding: 'slot:stt' });
    rmSync(join(bin, 'flm'));
    await registry.scan();
    expect(registry.get('whisper-v3:turbo')).toBeUndefined();
    expect(registry.absentIds()).toContain('whisper-v3:turbo');
    install(LIST);
    await registry.scan();
    expect(registry.get('whisper-v3:turbo')?.binding).toBe('slot:stt');
  });

  test('a silent or failing program has no models and causes no failure', async () => {
    writeFileSync(join(bin, 'flm'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    await settle();
    writeFileSync(join(bin, 'flm'), 'no program', { mode: 0o755 });
    await settle();
    expect(ids()).toEqual([]);
  });
});
