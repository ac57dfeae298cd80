import { describe, expect, it } from 'vitest';
import { slotConfig } from '../testing/controller-bench.ts';
import { MemoryTextStore } from '../testing/memory-text-store.ts';
import { AutoSlots } from './auto-slots.ts';
import type { BindableModel } from './bindings.ts';

const V: BindableModel = { id: 'V', type: 'embedding', created: 1 };
const W: BindableModel = { id: 'W', type: 'embedding', created: 2 };
const none: ReadonlySet<string> = new Set();

function open(
  models: BindableModel[],
  notes = new MemoryTextStore(),
  absentModels: readonly BindableModel[] = [],
) {
  const auto = new AutoSlots({
    models: () => models,
    absentModels: () => absentModels.map(({ id }) => id),
    store: notes,
    modelHeldBy: (config) => config.model,
  });
  return { auto, notes, models };
}
const pairs = (configs: readonly { name: string; model: string | null }[]) =>
  configs.map(({ name, model }) => [name, model]);

describe('AutoSlots', () => {
  it('a model gets a slot of its type with default settings', () => {
    const { auto } = open([V]);
    const [embed] = auto.configs({ configs: [], broken: none });
    expect(embed).toMatchObject({ name: 'embed', auto: true, type: 'embedding', model: 'V', enabled: true });
  });

  it('a file without a model is completed, a disabled or broken one is unchanged', () => {
    const { auto } = open([V]);
    const file = slotConfig('embed', 'context = 256');
    expect(auto.configs({ configs: [file], broken: none })).toEqual([{ ...file, model: 'V' }]);
    const off = slotConfig('embed', 'enabled = false');
    expect(pairs(auto.configs({ configs: [off], broken: none }))).toEqual([
      ['embed', null],
      ['v', 'V'],
    ]);
    expect(pairs(auto.configs({ configs: [], broken: new Set(['embed']) }))).toEqual([['v', 'V']]);
  });

  it('unchanged settings are the same object, and nothing is written again', () => {
    const { auto, notes } = open([V, W]);
    const first = auto.configs({ configs: [], broken: none });
    const reopened = auto.configs({ configs: [], broken: none });
    expect(reopened.every((config, i) => config === first[i])).toBe(true);
    expect(first.every((config) => auto.choseModelOf(config))).toBe(true);
    expect(auto.choseModelOf(slotConfig('embed'))).toBe(false);
    expect(notes.writes).toBe(1);
  });

  it('bindings are stored across restarts', () => {
    const { notes } = open([]);
    const models = [W];
    const bindingsOf = (some: BindableModel[]) =>
      pairs(open(some, notes).auto.configs({ configs: [], broken: none }));
    expect(bindingsOf(models)).toEqual([['embed', 'W']]);
    expect(bindingsOf([V, W])).toEqual([
      ['v', 'V'],
      ['embed', 'W'],
    ]);
    expect(bindingsOf([V])).toEqual([['embed', 'V']]);
  });

  it('a model that was unavailable gets its slot back, and its replacement gets its own', () => {
    const notes = new MemoryTextStore();
    const slotsOf = (some: BindableModel[], absentModels: BindableModel[] = []) =>
      Object.fromEntries(
        open(some, notes, absentModels)
          .auto.configs({ configs: [], broken: none })
          .map(({ name, model }) => [model, name]),
      );
    const late: BindableModel = { id: 'late', type: 'embedding', created: 0 };
    expect(slotsOf([W])).toEqual({ W: 'embed' });
    expect(slotsOf([V, W])).toEqual({ V: 'v', W: 'embed' });
    expect(slotsOf([V], [W])).toEqual({ V: 'embed' });
    expect(slotsOf([V, late], [W])).toEqual({ late: 'embed', V: 'v' });
    expect(slotsOf([V, W, late])).toEqual({ V: 'v', W: 'embed', late: 'late' });
  });

  it('a slot with a temporary swap has its own model again at the next start', () => {
    const notes = new MemoryTextStore();
    const { auto } = open([V, W], notes);
    const [embed] = auto.configs({ configs: [], broken: none }).filter(({ name }) => name === 'embed');
    const swapped = { ...(embed as NonNullable<typeof embed>), model: 'W' };
    expect(pairs(auto.configs({ configs: [swapped], broken: none }))).toEqual([
      ['embed', 'W'],
      ['v', 'V'],
    ]);
    expect(pairs(open([V, W], notes).auto.configs({ configs: [], broken: none }))).toEqual([
      ['embed', 'V'],
      ['w', 'W'],
    ]);
  });
});

describe('speech', () => {
  const piper: BindableModel = { id: 'piper', type: 'tts', format: 'onnx', created: 2 };
  const espeak: BindableModel = { id: 'espeak-ng', type: 'tts', format: 'program', created: 1 };
  const recogniser: BindableModel = { id: 'ear', type: 'stt', format: 'onnx', created: 1 };
  const slotsOf = (models: BindableModel[], files: string[][] = []) =>
    open(models)
      .auto.configs({ configs: files.map(([name = '', text]) => slotConfig(name, text)), broken: none })
      .map(({ name, engine, runner, model }) => [name, engine, runner, model]);

  it('a voice is slot tts, a recogniser slot stt, both with the engine that serves them', () => {
    expect(slotsOf([piper, recogniser])).toEqual([
      ['tts', 'speech', 'worker', 'piper'],
      ['stt', 'speech', 'worker', 'ear'],
    ]);
  });

  it('a speech program has its own engine, also where a file only sets its voice', () => {
    expect(slotsOf([espeak])).toEqual([['tts', 'espeak', 'worker', 'espeak-ng']]);
    expect(slotsOf([espeak], [['tts', '[voice]\nspeed = 2.0']])).toEqual([
      ['tts', 'espeak', 'worker', 'espeak-ng'],
    ]);
  });

  it('a slot whose engine has its own voices gets no model of the registry', () => {
    const kokoro = 'engine = "kokoro"\nurl = "http://127.0.0.1:8880"';
    expect(slotsOf([piper], [['tts', kokoro]])).toEqual([
      ['tts', 'kokoro', 'attach', null],
      ['piper', 'speech', 'worker', 'piper'],
    ]);
  });

  it('a voice moves to slot tts when the speech program is removed', () => {
    const notes = new MemoryTextStore();
    const names = (models: BindableModel[]) =>
      pairs(open(models, notes).auto.configs({ configs: [], broken: none }));
    expect(names([espeak, piper])).toEqual([
      ['tts', 'espeak-ng'],
      ['piper', 'piper'],
    ]);
    expect(names([piper])).toEqual([['tts', 'piper']]);
  });
});

describe('models of the NPU backend', () => {
  const vectors: BindableModel = { id: 'embed-gemma:300m', type: 'embedding', format: 'flm', created: 1 };
  const chat: BindableModel = { id: 'llama3.2:1b', type: 'llm', format: 'flm', created: 1 };
  const slotsOf = (models: BindableModel[], files: string[][] = []) =>
    open(models)
      .auto.configs({ configs: files.map(([name = '', text]) => slotConfig(name, text)), broken: none })
      .map(({ name, engine, runner, model }) => [name, engine, runner, model]);

  it('have their own slots with their engine', () => {
    expect(slotsOf([chat, vectors])).toEqual([
      ['llama3-2-1b', 'flm', 'process', 'llama3.2:1b'],
      ['embed', 'flm', 'process', 'embed-gemma:300m'],
    ]);
  });

  it('do not complete a slot file, which was written for another engine', () => {
    expect(slotsOf([vectors], [['embed', 'device = "vulkan"']])).toEqual([
      ['embed', 'embedded', 'worker', null],
      ['embed-gemma-300m', 'flm', 'process', 'embed-gemma:300m'],
    ]);
    const real: BindableModel = { id: 'vectors', type: 'embedding', format: 'gguf', created: 9 };
    expect(slotsOf([vectors, real], [['embed', 'device = "cpu"']])).toEqual(
      expect.arrayContaining([['embed', 'embedded', 'worker', 'vectors']]),
    );
  });
});

describe('a model with a projector', () => {
  const eyes: BindableModel = { id: 'eyes', type: 'llm', projectorPath: '/m/mmproj.gguf', created: 1 };
  const plain: BindableModel = { id: 'plain', type: 'llm', created: 2 };
  const openWith = (programs: readonly string[], held: string | null = null) =>
    new AutoSlots({
      models: () => [eyes, plain],
      absentModels: () => [],
      hasProgram: (name) => programs.includes(name),
      store: undefined,
      modelHeldBy: (config) => config.model ?? held,
    });
  const engines = (auto: AutoSlots, configs = [slotConfig('agent')]) =>
    Object.fromEntries(
      auto
        .configs({ configs, broken: none })
        .map(({ name, engine, runner }) => [name, `${engine} ${runner}`]),
    );

  it('gets llama-server as the engine of its automatic slot when it is installed', () => {
    expect(engines(openWith(['llama-server']))).toMatchObject({
      eyes: 'llama-server process',
      plain: 'embedded worker',
    });
    expect(engines(openWith([]))).toMatchObject({ eyes: 'embedded worker' });
  });

  it('has that engine in slot agent too, unless its file chooses', () => {
    const auto = openWith(['llama-server'], 'eyes');
    expect(engines(auto)).toMatchObject({ agent: 'llama-server process' });
    const before = auto.configs({ configs: [slotConfig('agent')], broken: none })[0];
    expect(auto.configs({ configs: [slotConfig('agent')], broken: none })[0]).toBe(before);
    for (const text of ['engine = "embedded"', 'runner = "worker"', 'enabled = false'])
      expect(engines(auto, [slotConfig('agent', text)])).toMatchObject({ agent: 'embedded worker' });
    expect(engines(openWith(['llama-server'], 'plain'))).toMatchObject({ agent: 'embedded worker' });
  });
});
