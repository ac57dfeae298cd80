import { expect, test } from 'vitest';
import { SLOT_KEYS } from '../../contract/slot-keys.ts';
import { SlotSettingsResponse } from '../../contract/slots.ts';
import type { SlotConfig } from './slot-config.ts';
import { automaticSlot, builtInSlot, readSlotFile } from './slot-file.ts';
import { type ChosenModel, slotSettingsView } from './slot-settings.ts';

const fromText = (text: string, name = 'chat'): SlotConfig => {
  const { config } = readSlotFile(`${name}.toml`, text);
  if (config === null) throw new Error('the text gives no slot');
  return config;
};

const NOTHING = { files: new Set<string>(), revisions: new Map<string, string>(), problems: [] };

function viewOf(config: SlotConfig, over: Partial<ChosenModel> = {}) {
  const view = slotSettingsView(config, { swapped: null, model: null, sampling: {}, ...over }, NOTHING);
  expect(SlotSettingsResponse.parse(view)).toEqual(view);
  return Object.fromEntries(view.settings.map(({ key, value, from }) => [key, [value, from]]));
}

const FULL = `
type = "tts"
engine = "custom"
runner = "process"
command = ["voice", "--port", "{port}"]
health = "/health"
extra_args = ["--quiet"]
idle_unload = "5 min"
[env]
VOICE_TOKEN = "swordfish"
[voice]
speed = 1.5
`;

test('every key of a slot file is listed with its origin, and variables by name only', () => {
  const rows = viewOf(fromText(FULL));
  expect(rows).toMatchObject({
    type: ['tts', 'file'],
    runner: ['process', 'file'],
    command: [['voice', '--port', '{port}'], 'file'],
    extra_args: [['--quiet'], 'file'],
    idle_unload: [300, 'file'],
    env: [['VOICE_TOKEN'], 'file'],
    'voice.speed': [1.5, 'file'],
    'voice.voice': [null, 'default'],
    autoload: [false, 'default'],
    parallel: [2, 'default'],
    device: ['auto', 'default'],
    model: [null, 'default'],
  });
  expect(JSON.stringify(rows)).not.toContain('swordfish');
});

test('the editable keys are listed and marked', () => {
  const { settings } = slotSettingsView(
    builtInSlot('agent'),
    { swapped: null, model: 'tiny', sampling: {} },
    NOTHING,
  );
  const editable = settings.filter((row) => row.editable).map(({ key }) => key);
  expect(editable.sort()).toEqual(Object.keys(SLOT_KEYS).sort());
  const keys = settings.map(({ key }) => key.split('.')[0]);
  for (const key of ['command', 'image', 'env', 'extra_args', 'url']) expect(keys).toContain(key);
});

test('a model without a name in the file is automatic, and a swapped one has the origin swap', () => {
  const agent = builtInSlot('agent');
  expect(viewOf(agent, { model: 'tiny' })).toMatchObject({
    model: ['tiny', 'automatic'],
    autoload: [true, 'default'],
    idle_unload: [0, 'default'],
  });
  expect(viewOf(automaticSlot('qwen', 'embedding', 'qwen-embed'))).toMatchObject({
    model: ['qwen-embed', 'automatic'],
    type: ['embedding', 'automatic'],
    engine: ['embedded', 'automatic'],
  });
  const swapped = { ...fromText('model = "small"'), model: 'large' };
  expect(viewOf(swapped, { swapped: 'large' })).toMatchObject({ model: ['large', 'swap'] });
  expect(viewOf(fromText('model = "small"'))).toMatchObject({ model: ['small', 'file'] });
});

test('the file and its problems are listed, without its folder', () => {
  const own = { file: 'chat.toml', line: 3, message: 'unknown key "modle" is ignored' };
  const problems = [own, { ...own, file: 'other.toml' }];
  const view = (files: string[]) =>
    slotSettingsView(
      fromText(''),
      { swapped: null, model: null, sampling: {} },
      { files: new Set(files), revisions: new Map([['chat', 'of its file']]), problems },
    );
  expect(view(['chat'])).toMatchObject({ file: 'chat.toml', revision: 'of its file' });
  expect(view(['chat']).problems).toEqual([{ line: 3, message: 'unknown key "modle" is ignored' }]);
  expect(view(['other']).file).toBeNull();
});

test('the sampling that a model file recommends is listed for engines that use it', () => {
  const sampling = { temperature: 0.6, top_k: 20 };
  const rows = viewOf(fromText('engine = "llama-server"'), { sampling });
  expect(rows).toMatchObject({ 'sampling.temperature': [0.6, 'model'], 'sampling.top_k': [20, 'model'] });
  expect(viewOf(builtInSlot('agent'), { sampling })).toHaveProperty(['sampling.temperature']);
  for (const other of [fromText('engine = "vllm"\nmodel = "x"'), builtInSlot('embed')])
    expect(Object.keys(viewOf(other, { sampling })).join()).not.toContain('sampling');
});
