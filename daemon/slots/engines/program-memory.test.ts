import { describe, expect, it } from 'vitest';
import { MODEL, slotConfig } from '../testing/controller-bench.ts';
import type { MemoryParams } from './engine.ts';
import { GIB, MIB, optionNumber, optionValue, weightsByName } from './program-memory.ts';
import { engineOf } from './table.ts';

describe('optionValue', () => {
  const readOption = (args: readonly string[], command: readonly string[] = ['prog']) =>
    optionValue(
      slotConfig('one', `command = ${JSON.stringify(command)}\nextra_args = ${JSON.stringify(args)}`),
      ['--share', '-s'],
    );

  it.each([
    [[], null],
    [['--share', '0.5'], '0.5'],
    [['--share=0.5'], '0.5'],
    [['-s', '1', '--share', '2'], '2'],
    [['--name', '--share'], null],
    [['--share=a=b'], 'a=b'],
    [['share', '1'], null],
  ])('%j: %s', (args, value) => expect(readOption(args)).toBe(value));

  it('reads the command, and names with underscores', () => {
    expect(readOption([], ['prog', '--share', '0.3'])).toBe('0.3');
    const config = slotConfig('one', 'extra_args = ["--gpu_memory_utilization", "0.3"]');
    expect(optionNumber(config, ['--gpu-memory-utilization'])).toBe(0.3);
  });

  it.each(['x', '0', '-1', ''])('no number: %j', (text) => {
    const config = slotConfig('one', `extra_args = ["--share", ${JSON.stringify(text)}]`);
    expect(optionNumber(config, ['--share'])).toBeNull();
  });
});

it.each([
  ['Qwen/Qwen3-8B', 16e9],
  ['llama3.2:1b', 2e9],
  ['Qwen/Qwen3-8B-AWQ', 4.8e9],
  ['meta-llama/Llama-3.1-8B-Instruct-FP8', 8.4e9],
  ['Qwen/Qwen3-30B-A3B', 60e9],
  ['google/gemma-3-270m', 540e6],
  ['org/model-1.5b', 3e9],
  ['org/model', null],
  ['org/v3b1', null],
  ['org/big-model-32bit', null],
])('the weights of %s take %s bytes', (name, bytes) => expect(weightsByName(name)).toBe(bytes));

describe('the memory of programs', () => {
  const memoryOf = (text: string, model: Partial<MemoryParams['model']> = {}, onCard = false) => {
    const config = slotConfig('one', text);
    return engineOf(config.engine)?.memory?.({ config, model: { ...MODEL, sizeBytes: 0, ...model }, onCard });
  };

  it('every engine but those of llama.cpp has a rule, and none takes less than 64 MiB', () => {
    for (const [engine, text] of Object.entries({
      vllm: 'model = "a/b"',
      flm: 'model = "llama3.2:1b"',
      'whisper-server': 'type = "stt"\nmodel = "/m/a.bin"',
      speech: 'type = "tts"',
      espeak: 'type = "tts"',
      'sd-server': 'type = "image"\nmodel = "/m/a.gguf"',
      comfyui: 'type = "image"',
      kokoro: 'type = "tts"',
      custom: 'command = ["x"]',
    })) {
      const {
        engine: own = 0,
        weights = 0,
        window = 0,
        compute = 0,
      } = memoryOf(`engine = "${engine}"\n${text}`) ?? {};
      expect([engine, own + weights + window + compute > 64 * MIB]).toEqual([engine, true]);
    }
    expect([engineOf('embedded')?.memory, engineOf('llama-server')?.memory]).toEqual([undefined, undefined]);
  });

  const vllm = (more: string, onCard = false) =>
    memoryOf(`engine = "vllm"\nmodel = "/m/folder"\n${more}`, { sizeBytes: 8 * GIB }, onCard);

  it.each([
    ['', { weights: 8 * GIB, window: 4 * GIB }],
    ['env = { VLLM_CPU_KVCACHE_SPACE = "12" }', { weights: 8 * GIB, window: 12 * GIB }],
    ['env = { VLLM_CPU_KVCACHE_SPACE = "" }', { window: 4 * GIB }],
    ['extra_args = ["--kv-cache-memory-bytes", "2G"]', { window: 2 * GIB }],
    ['extra_args = ["--kv-cache-memory-bytes=500000000"]', { window: 5e8 }],
    ['extra_args = ["--tensor-parallel-size", "2"]', { weights: 8 * GIB }],
  ])('vLLM on a CPU with %j', (more, parts) => expect(vllm(more)).toMatchObject(parts));

  it.each([
    ['', { weights: 8 * GIB, cardShare: 0.92, host: 4 * GIB }],
    ['extra_args = ["--gpu-memory-utilization", "0.5"]', { cardShare: 0.5 }],
    ['extra_args = ["--gpu-memory-utilization=1.5"]', { cardShare: 1 }],
    ['extra_args = ["--tensor-parallel-size", "2"]', { weights: 4 * GIB, cardShare: 0.92 }],
  ])('vLLM on a card with %j', (more, parts) => expect(vllm(more, true)).toMatchObject(parts));

  it('vLLM on a CPU: within -5 % and +25 % of a measured tree of 3186 MiB with 1 GiB of cache', () => {
    const { engine = 0, window = 0 } = vllm('env = { VLLM_CPU_KVCACHE_SPACE = "1" }') ?? {};
    expect((engine + window) / MIB / 3186).toBeGreaterThan(0.95);
    expect((engine + window) / MIB / 3186).toBeLessThan(1.25);
  });

  it('vLLM with a size of its cache takes the parts, not its share', () => {
    const memory = vllm('extra_args = ["--kv-cache-memory-bytes", "6G"]', true);
    expect(memory).toMatchObject({ weights: 8 * GIB, window: 6 * GIB });
    expect(memory).not.toHaveProperty('cardShare');
  });

  it('vLLM with a name of the hub: by the size in the name, otherwise 8 GiB', () => {
    expect(memoryOf('engine = "vllm"\nmodel = "a/b"', { id: 'Qwen/Qwen3-4B' })).toMatchObject({
      weights: 8e9,
    });
    expect(memoryOf('engine = "vllm"\nmodel = "a/b"', { id: 'org/model' })).toMatchObject({
      weights: 8 * GIB,
    });
  });

  /** MiB of the files, and of the measured tree of processes (proportional set size). */
  it.each([
    ['Piper en_US-joe', 'tts', 'vits', 60, 315],
    ['Piper en_US-joe after many texts', 'tts', 'vits', 60, 358],
    ['Kokoro 82M int8', 'tts', 'kokoro', 90, 399],
    ['Whisper tiny.en, a window of 30 s', 'stt', 'whisper', 222, 624],
    ['Whisper tiny.en after 21 recordings', 'stt', 'whisper', 222, 630],
    ['Whisper base, a window of 30 s', 'stt', 'whisper', 380, 954],
    ['Whisper base after 21 recordings', 'stt', 'whisper', 380, 955],
  ])('%s: the estimate is within -5 %% and +25 %% of the measurement', (_, type, family, file, measured) => {
    const model = { sizeBytes: file * MIB, architecture: family };
    const memory = memoryOf(`engine = "speech"\ntype = "${type}"`, model);
    const { engine = 0, weights = 0, window = 0, compute = 0 } = memory ?? {};
    const ratio = (engine + weights + window + compute) / MIB / measured;
    expect(ratio).toBeGreaterThan(0.95);
    expect(ratio).toBeLessThan(1.25);
  });

  it.each([
    ['tiny.en after a recording of 45 s, one thread', 74, 220],
    ['tiny.en after 16 recordings', 74, 259],
    ['base after a recording of 45 s', 141, 323],
    ['base after 16 recordings', 141, 379],
  ])('whisper-server, %s: within -5 %% and +25 %% of the measurement', (_, file, measured) => {
    const text = 'engine = "whisper-server"\ntype = "stt"\nmodel = "/m/a.bin"';
    const { engine = 0, weights = 0 } = memoryOf(text, { sizeBytes: file * MIB }) ?? {};
    expect((engine + weights) / MIB / measured).toBeGreaterThan(0.95);
    expect((engine + weights) / MIB / measured).toBeLessThan(1.25);
  });

  it.each([
    ['', { sizeBytes: 2034 * MIB }, 1728],
    ['', { id: 'sd15-q4', sizeBytes: 900 * MIB }, 1728],
    ['', { sizeBytes: 6.9 * GIB }, 4 * 1728],
    ['', { id: 'sdxl-turbo-q4', sizeBytes: 3 * GIB }, 1728],
    ['family = "sdxl"', { sizeBytes: 2 * GIB }, 4 * 1728],
    ['family = "flux"', { sizeBytes: 12 * GIB }, 4 * 1728],
    ['', {}, 4 * 1728],
  ])('stable-diffusion.cpp with %j and %j: %d MiB at the usual size of the family', (more, model, mib) => {
    const memory = memoryOf(`engine = "sd-server"\ntype = "image"\nmodel = "/m/a.gguf"\n${more}`, model);
    expect((memory?.compute ?? 0) / MIB).toBe(mib);
  });

  it('stable-diffusion.cpp: within -5 % and +25 % of a measured maximum of 3768 MiB', () => {
    const text = 'engine = "sd-server"\ntype = "image"\nmodel = "/m/a.safetensors"';
    const { engine = 0, weights = 0, compute = 0 } = memoryOf(text, { sizeBytes: 2034 * MIB }) ?? {};
    expect((engine + weights + compute) / MIB / 3768).toBeGreaterThan(0.95);
    expect((engine + weights + compute) / MIB / 3768).toBeLessThan(1.25);
  });

  it('ComfyUI: by the model, twice its files on a CPU, and host memory in addition to a card', () => {
    const text = (model: string) => `engine = "comfyui"\ntype = "image"\nmodel = "${model}"`;
    expect(memoryOf(text('sd15'))?.weights).toBe(4 * GIB);
    expect(memoryOf(text('sdxl'), {}, true)).toMatchObject({ weights: 7 * GIB, host: 2 * GIB });
    expect(memoryOf(text('flux-dev'), {}, true)?.weights).toBe(17 * GIB);
  });
});
