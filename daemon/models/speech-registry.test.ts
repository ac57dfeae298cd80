import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { RegistryView } from '../contract/models.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from '../settings/open-settings.ts';
import { openStore } from '../store/store.ts';
import { updateEspeakModel } from './espeak-model-source.ts';
import { ModelStore } from './model-store.ts';
import { writeToneRecogniser, writeToneVoice } from './onnx/testing/tone-folders.ts';
import { piperSettings, writeEspeakData, writeTonePiper } from './onnx/testing/tone-piper.ts';
import { createRegistry, type Registry } from './registry.ts';
import { readInProcess } from './testing/read-in-process.ts';

const log = createLog({ level: 'fatal' });
const ends: (() => void)[] = [];
let home: string;
let models: string;

beforeEach(() => {
  home = scratch();
  models = join(home, 'state', 'models');
  mkdirSync(models, { recursive: true });
});
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

function storeOf() {
  const store = openStore({ folder: join(home, 'state'), log });
  ends.push(() => store.close());
  return store;
}

async function start(): Promise<Registry> {
  const settings = await openSettings({ env: { SVC_HOME: home, SVC_ESPEAK: 'off' }, log, watch: false });
  ends.push(() => settings.close());
  const bus = new EventBus<GatewayEvents>();
  const registry = await createRegistry({
    ...{ store: storeOf(), log, bus, settings, firstScanMs: 20_000 },
    readMetadata: readInProcess,
  });
  ends.push(registry.close);
  return registry;
}

describe('speech models in the model folders', () => {
  test("a folder is one model, with the folder's name as id", async () => {
    writeToneVoice(join(models, 'vits-tone.en'), { speakers: 2 });
    writeToneRecogniser(join(models, 'deep', 'tone-ear'));
    mkdirSync(join(models, 'vits-tone.en', 'espeak-ng-data'));
    const registry = await start();
    expect(registry.get('vits-tone.en')).toMatchObject({
      type: 'tts',
      format: 'onnx',
      architecture: 'vits',
      voices: ['0', '1'],
      path: join(models, 'vits-tone.en'),
    });
    expect(registry.get('tone-ear')).toMatchObject({ type: 'stt', format: 'onnx', voices: [] });
    const views = registry.views();
    expect(views.map((view) => RegistryView.parse(view))).toEqual(views);
    expect(JSON.stringify(views)).not.toContain(home);
  });

  test('survives a restart with its voices and is removed with its folder', async () => {
    writeToneVoice(join(models, 'tone'), { speakers: 2 });
    (await start()).close();
    for (const end of ends.splice(0).reverse()) end();
    const restarted = await start();
    expect(restarted.get('tone')?.voices).toEqual(['0', '1']);
    rmSync(join(models, 'tone'), { recursive: true });
    await restarted.scan();
    expect(restarted.get('tone')).toBeUndefined();
  });

  test('a damaged one is a problem with a reason and returns when repaired', async () => {
    const folder = writeToneVoice(join(models, 'tone'));
    truncateSync(join(folder, 'tokens.txt'));
    const registry = await start();
    expect(registry.problems()).toMatchObject([{ file: 'tone', reason: 'tokens.txt is empty' }]);
    writeToneVoice(folder);
    await registry.scan();
    expect(registry.get('tone')?.type).toBe('tts');
    expect(registry.problems()).toEqual([]);
  });

  test('voices as Piper publishes them are separate models, many in one folder', async () => {
    writeEspeakData(models);
    const settings = piperSettings({ num_speakers: 2, speaker_id_map: { anna: 0, ben: 1 } });
    const path = writeTonePiper(join(models, 'piper'));
    writeTonePiper(join(models, 'piper'), 'de_DE-two-low', settings);
    const registry = await start();
    expect(registry.problems()).toEqual([]);
    expect(registry.get('en_US-tone-medium')).toMatchObject({
      type: 'tts',
      format: 'onnx',
      name: 'en_US-tone-medium',
      voices: ['default'],
      path,
    });
    expect(registry.get('de_DE-two-low')?.voices).toEqual(['anna', 'ben']);
    rmSync(`${path}.json`);
    await registry.scan();
    expect(registry.get('en_US-tone-medium')).toBeUndefined();
    expect(registry.problems()).toMatchObject([
      { file: 'piper/en_US-tone-medium.onnx', reason: 'a voice of Piper without its settings' },
    ]);
  });

  test('a part that is added later is noticed, although the files that were read have not changed', async () => {
    const folder = writeToneVoice(join(models, 'kokoro'));
    const tokens = join(folder, 'tokens.txt');
    const text = readFileSync(tokens);
    writeFileSync(join(folder, 'voices.bin'), 'x');
    rmSync(tokens);
    const registry = await start();
    expect(registry.problems()).toMatchObject([{ file: 'kokoro', reason: 'tokens.txt is missing' }]);
    writeFileSync(tokens, text);
    await registry.scan();
    // The tone voice is not of the family of the file that was added.
    const reason = 'speech models of the kind "vits" cannot be served';
    expect(registry.problems()).toMatchObject([{ file: 'kokoro', reason }]);
  });

  test.each([
    ['the voice file', (folder: string) => join(folder, 'en_US-tone-medium.onnx')],
    ['the folder of the only voice', (folder: string) => folder],
  ])('%s can be registered', async (_, pathOf) => {
    const folder = join(home, 'elsewhere');
    writeTonePiper(folder);
    writeEspeakData(home);
    const registry = await start();
    expect((await registry.register(pathOf(folder))).id).toBe('en_US-tone-medium');
  });

  test('a part of a speech model registers its folder', async () => {
    const folder = writeToneVoice(join(home, 'elsewhere', 'tone'));
    const registry = await start();
    expect((await registry.register(join(folder, 'model.onnx'))).path).toBe(folder);
  });

  test('names other ONNX models with what to do', async () => {
    mkdirSync(join(models, 'embedder'));
    writeFileSync(join(models, 'embedder', 'model.onnx'), 'x');
    writeFileSync(join(models, 'embedder', 'tokenizer.json'), '{}');
    expect((await start()).problems()).toEqual([
      {
        file: 'embedder/model.onnx',
        reason: 'an ONNX model of an unknown kind',
        advice: expect.stringMatching(/sherpa-onnx/),
      },
    ]);
  });
});

describe('the speech program as a model', () => {
  const VOICES =
    'Pty Language Age/Gender VoiceName File Other\\n 5  en-us --/M English_(America) gmw/en-US\\n';
  let bin: string;
  let modelStore: ModelStore;
  beforeEach(() => {
    bin = join(home, 'bin');
    mkdirSync(bin);
    modelStore = new ModelStore(storeOf().models, new EventBus<GatewayEvents>(), log);
  });
  const install = () =>
    writeFileSync(join(bin, 'espeak-ng'), `#!/bin/sh\nprintf '${VOICES}'\n`, { mode: 0o755 });
  const settle = (isEnabled = true) =>
    updateEspeakModel({ modelStore, isEnabled: () => isEnabled, path: bin });
  const ids = () => modelStore.list().map(({ id }) => id);

  test('is a voice while installed and enabled, without another voice (with a fake program)', async () => {
    await settle();
    expect(ids()).toEqual([]);
    install();
    await settle();
    await settle();
    expect(modelStore.get('espeak-ng')).toMatchObject({ type: 'tts', format: 'program', voices: ['en-us'] });
    await settle(false);
    expect(ids()).toEqual([]);
    await settle();
    rmSync(join(bin, 'espeak-ng'));
    await settle();
    expect(ids()).toEqual([]);
  });

  test('is removed when a real voice exists', async () => {
    install();
    await settle();
    const guest = modelStore.get('espeak-ng');
    if (guest === undefined) throw new Error('no guest');
    modelStore.put({ ...guest, id: 'piper', source: 'scan', format: 'onnx' });
    await settle();
    expect(ids()).toEqual(['piper']);
    modelStore.remove('piper');
    await settle();
    expect(ids()).toEqual(['espeak-ng']);
  });
});
