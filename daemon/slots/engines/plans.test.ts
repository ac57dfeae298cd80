import { describe, expect, it } from 'vitest';
import { contextOf } from '../../models/testing/context-of.ts';
import { configOf, planOf } from '../testing/plans.ts';
import type { ProcessRunSpec } from './run-spec.ts';
import { engineOf, slotObjection } from './table.ts';

const LISTEN = ['--host', '{host}', '--port', '{port}'];
const LLAMA = ['-m', '{model}', '-a', 'small', ...LISTEN];

describe('the arguments of', () => {
  it.each([
    ['engine = "llama-server"', [...LLAMA, '-c', '8192', '-np', '2', '-t', '3', '--no-webui', '--jinja']],
    [
      'engine = "llama-server"\nparallel = 1\ncontext = 1024\ndevice = "cpu"\nextra_args = ["--mmproj", "/m/x"]',
      [
        ...LLAMA,
        ...['-c', '1024', '-np', '1', '-t', '3', '--device', 'none', '--no-webui', '--jinja'],
        ...['--mmproj', '/m/x'],
      ],
    ],
    [
      'engine = "llama-server"\ntype = "embedding"\nparallel = 3\ncontext = 512\ndevice = "vulkan:1"',
      [
        ...LLAMA,
        ...['-c', '1536', '-np', '3', '-t', '3', '-b', '512', '-ub', '512'],
        ...['--device', 'Vulkan0', '-ngl', '999', '--no-webui', '--embeddings'],
      ],
    ],
    [
      'engine = "llama-server"\ntype = "rerank"\nparallel = 1\ncontext = 512\ndevice = "cuda"',
      [
        ...LLAMA,
        ...['-c', '512', '-np', '1', '-t', '3', '-b', '512', '-ub', '512'],
        ...['-ngl', '999', '--no-webui', '--reranking'],
      ],
    ],
    [
      'engine = "vllm"\nmodel = "/m/folder"\ncontext = 2048',
      [
        'serve',
        '{model}',
        '--served-model-name',
        'small',
        ...LISTEN,
        '--max-num-seqs',
        '2',
        '--max-model-len',
        '2048',
      ],
    ],
    [
      'engine = "flm"\nmodel = "llama3.2:1b"',
      ['serve', 'small', ...LISTEN, '--ctx-len', '8192', '--asr', '1', '--embed', '1', '--quiet'],
    ],
    [
      'engine = "flm"\ntype = "stt"\nmodel = "whisper-v3:turbo"',
      ['serve', ...LISTEN, '--asr', '1', '--embed', '1', '--quiet'],
    ],
    [
      'engine = "whisper-server"\ntype = "stt"\nmodel = "/m/w.bin"\ndevice = "cpu"',
      ['-m', '{model}', ...LISTEN, '-t', '3', '--inference-path', '/v1/audio/transcriptions', '-ng'],
    ],
    [
      'engine = "sd-server"\ntype = "image"\nmodel = "/m/i.safetensors"',
      ['-m', '{model}', '--listen-ip', '{host}', '--listen-port', '{port}', '-t', '3'],
    ],
    [
      'engine = "comfyui"\ntype = "image"\nrunner = "process"\ncommand = ["/py", "/c/main.py"]\ndevice = "cpu"',
      ['/c/main.py', '--listen', '{host}', '--port', '{port}', '--disable-auto-launch', '--cpu'],
    ],
    [
      'engine = "kokoro"\ntype = "tts"\nrunner = "process"\ncommand = ["/uvicorn", "app", "--port", "{port}"]',
      ['app', '--port', '{port}'],
    ],
    [
      'engine = "custom"\ncommand = ["prog", "{port}", "{model}"]\nextra_args = ["-v"]',
      ['{port}', '{model}', '-v'],
    ],
  ])('%s', (text, args) => {
    expect(planOf(text).how).toMatchObject({ runner: 'process', args });
  });
});

/** Bounds of the memory that llama-server takes in addition to the window. */
const CACHE_LIMITS = { LLAMA_ARG_CACHE_RAM: '512', LLAMA_ARG_CTX_CHECKPOINTS: '8' };

describe('a process', () => {
  it('of llama-server has bounded caches, which the slot file may change', () => {
    expect(planOf('engine = "llama-server"').env).toEqual(CACHE_LIMITS);
    const changed = planOf('engine = "llama-server"\n[env]\nLLAMA_ARG_CACHE_RAM = "4096"');
    expect(changed.env).toEqual({ ...CACHE_LIMITS, LLAMA_ARG_CACHE_RAM: '4096' });
  });

  it.each([
    ['full attention', contextOf(20_000), '157', '8'],
    ['a recurrent state of 150 MB', contextOf(65_536, { stateBytesPerSequence: 156_893_184 }), '512', '1'],
    [
      'a small sliding window',
      contextOf(1000, { slidingBytesPerToken: 40_000, slidingWindow: 1024 }),
      '125',
      '6',
    ],
  ])('of llama-server has caches by the size of one sequence: %s', (_, contextMemory, ram, checkpoints) => {
    expect(planOf('engine = "llama-server"', { contextMemory }).env).toEqual({
      LLAMA_ARG_CACHE_RAM: ram,
      LLAMA_ARG_CTX_CHECKPOINTS: checkpoints,
    });
  });

  it.each([
    ['[]', undefined],
    ['["--spec-type", "draft-mtp"]', 3],
    ['["--spec-type=ngram-mod,draft-mtp", "--spec-draft-n-max", "2"]', 2],
    ['["--spec-type", "ngram-mod"]', undefined],
  ])('of llama-server with extra_args = %s predicts %s tokens ahead', (args, tokens) => {
    expect(planOf(`engine = "llama-server"\nextra_args = ${args}`).draftTokens).toBe(tokens);
  });

  it('of llama-server gets its key and its device by variables, and the windows of all its sequences', () => {
    const launch = planOf('engine = "llama-server"\ndevice = "rocm:1"\nenv = { X = "1" }');
    expect(launch).toMatchObject({
      engine: 'llama-server',
      context: 4096,
      sequences: 2,
      device: 'rocm',
      env: { HIP_VISIBLE_DEVICES: '1', X: '1' },
      dialect: { nativeRerank: true, rawRerank: true, model: 'small' },
      how: {
        command: 'llama-server',
        key: { by: 'env', name: 'LLAMA_API_KEY' },
        probe: { path: '/health', loading: [503] },
        shared: null,
      },
    });
  });

  it('numbers NVIDIA GPUs as the probe does, not by their speed', () => {
    expect(planOf('engine = "llama-server"\ndevice = "cuda:1"').env).toEqual({
      ...CACHE_LIMITS,
      CUDA_VISIBLE_DEVICES: '1',
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    });
  });

  it('has the program and first arguments of the slot file', () => {
    const { how } = planOf('engine = "llama-server"\ncommand = ["/opt/ld.so", "/opt/llama-server"]');
    expect(how).toMatchObject({ command: '/opt/ld.so' });
    expect((how as ProcessRunSpec).args.slice(0, 2)).toEqual(['/opt/llama-server', '-m']);
  });

  it('of the NPU is shared by chat, transcription and embedding, and only the chat model claims it', () => {
    const tags = { id: 'llama3.2:1b', path: null, sizeBytes: 0 };
    expect(planOf('engine = "flm"\nmodel = "x"', tags)).toMatchObject({
      device: 'npu',
      dialect: { model: 'llama3.2:1b' },
      how: { key: { by: 'none' }, shared: { name: 'flm', claim: 'llama3.2:1b' } },
    });
    expect(planOf('engine = "flm"\ntype = "embedding"\nmodel = "x"', tags).how).toMatchObject({
      shared: { name: 'flm', claim: null },
    });
  });

  it('that accepts one request at a time has a parallelism of 1', () => {
    const text = 'type = "stt"\nengine = "whisper-server"\nmodel = "/m/w.bin"\nparallel = 4';
    expect(planOf(text)).toMatchObject({ parallel: 1, dialect: { model: null } });
  });

  it('of custom gets its key in a file when its arguments contain {key_file}', () => {
    const text = 'engine = "custom"\ncommand = ["p", "--keys={key_file}"]';
    expect(planOf(text).how).toMatchObject({ key: { by: 'file' } });
    expect(planOf('engine = "custom"\ncommand = ["p"]').how).toMatchObject({ key: { by: 'none' } });
  });

  it('of custom gets its key by the variable of the slot file, and placeholders in its variables are filled in', () => {
    const text =
      'engine = "custom"\ncommand = ["p"]\nkey_env = "TOKEN"\nhealth = "/up"\nenv = { PORT = "{port}" }';
    expect(planOf(text)).toMatchObject({
      env: {},
      how: {
        env: { PORT: '{port}' },
        key: { by: 'env', name: 'TOKEN' },
        probe: { path: '/up', loading: [503] },
      },
    });
  });
});

describe('the step of a model that returns vectors or scores', () => {
  const decoder = { contextTrain: 32_768, contextMemory: contextOf(114_688), readsInSteps: true };
  const encoder = { contextTrain: 8192, contextMemory: contextOf(0) };
  // A vocabulary of 250,002 tokens: 1 GB of outputs for 1024 tokens.
  const multilingual = { contextTrain: 8192, contextMemory: contextOf(0, { outputBytes: 1_000_008 }) };
  const whole = { ...decoder, readsInSteps: false };

  it.each([
    ['embedding', 'embedded', decoder, 8192, 512],
    ['embedding', 'llama-server', decoder, 8192, 512],
    ['rerank', 'embedded', decoder, 8192, 512],
    ['rerank', 'llama-server', decoder, 2048, 2048],
    ['embedding', 'embedded', whole, 2048, 2048],
    ['embedding', 'embedded', encoder, 8192, 8192],
    ['embedding', 'embedded', multilingual, 1024, 1024],
    ['rerank', 'llama-server', multilingual, 1024, 1024],
    ['rerank', 'llama-server', encoder, 8192, 8192],
  ] as const)('%s on %s', (type, engine, model, context, batch) => {
    const launch = planOf(`type = "${type}"\nengine = "${engine}"`, model);
    expect(launch).toMatchObject({ context, batch });
  });

  it('is the window of the slot file where a text must be read in one step', () => {
    const text = 'type = "rerank"\nengine = "llama-server"\ncontext = 16384';
    expect(planOf(text, decoder)).toMatchObject({ context: 16_384, batch: 16_384 });
    expect(planOf(text.replace('llama-server', 'embedded'), decoder)).toMatchObject({ batch: 512 });
  });

  it('reaches the worker', () => {
    const { how } = planOf('type = "embedding"', decoder);
    expect(how).toMatchObject({ settings: { context: 8192, batch: 512 } });
  });
});

describe('a container', () => {
  it('of llama-server gets the parts of its model and one GPU, and nothing else', () => {
    const launch = planOf(
      'engine = "llama-server"\nrunner = "container"\ndevice = "cuda:1"\npull = "never"',
      {
        path: '/m/big-00001-of-00002.gguf',
      },
    );
    const mount = (name: string) => ({ source: `/m/${name}`, target: `/models/${name}`, readOnly: true });
    expect(launch.env).toEqual(CACHE_LIMITS);
    expect(launch.how).toMatchObject({
      runner: 'container',
      image: 'ghcr.io/ggml-org/llama.cpp:server-cuda',
      mounts: [mount('big-00001-of-00002.gguf'), mount('big-00002-of-00002.gguf')],
      modelPath: '/models/big-00001-of-00002.gguf',
      devices: [{ by: 'cdi', name: 'nvidia.com/gpu=1' }],
      port: 8080,
      pull: 'never',
      key: { by: 'env', name: 'LLAMA_API_KEY' },
    });
  });

  it.each([
    ['vulkan', [{ by: 'node', path: '/dev/dri' }]],
    [
      'rocm:0',
      [
        { by: 'node', path: '/dev/kfd' },
        { by: 'node', path: '/dev/dri' },
      ],
    ],
    ['cuda', [{ by: 'cdi', name: 'nvidia.com/gpu=all' }]],
    ['cpu', []],
  ])('on %s gets the devices %j', (device, devices) => {
    const text = `engine = "llama-server"\nrunner = "container"\ndevice = "${device}"`;
    expect(planOf(text).how).toMatchObject({ devices });
  });

  it('of vllm loads a model by its name, without a mount, and shares memory', () => {
    const text =
      'engine = "vllm"\nrunner = "container"\nmodel = "org/name"\nimage = "my/vllm:1"\nport = 9000';
    expect(planOf(text, { id: 'org/name', path: null }).how).toMatchObject({
      image: 'my/vllm:1',
      args: ['org/name', '--served-model-name', 'org/name', ...LISTEN, '--max-num-seqs', '2'],
      mounts: [],
      modelPath: null,
      port: 9000,
      shmBytes: 8 * 1024 ** 3,
    });
  });
});

describe('an attached server', () => {
  it.each(['llama-server', 'vllm', 'flm', 'custom'])(
    'of %s has an address, a variable and little time',
    (engine) => {
      const text = `engine = "${engine}"\nrunner = "attach"\nurl = "http://127.0.0.1:9000"\nmodel = "x"\nkey_env = "K"`;
      expect(planOf(text)).toMatchObject({
        device: 'remote',
        threads: 0,
        startLimitMs: 30_000,
        how: { runner: 'attach', url: 'http://127.0.0.1:9000', keyVariable: 'K' },
      });
    },
  );
});

describe('where a model comes from', () => {
  it.each([
    ['', 'registry'],
    ['engine = "llama-server"', 'registry'],
    ['engine = "llama-server"\nrunner = "attach"', 'name'],
    ['engine = "vllm"\nmodel = "org/name"', 'name'],
    ['engine = "vllm"\nmodel = "/m/folder"', 'file'],
    ['engine = "whisper-server"\ntype = "stt"', 'file'],
    ['engine = "custom"\nmodel = "/m/x"', 'file'],
    ['engine = "custom"', 'name'],
    ['engine = "comfyui"\ntype = "image"', 'name'],
  ])('%j: %s', (text, source) => {
    const config = configOf(text);
    expect(engineOf(config.engine)?.modelSource(config)).toBe(source);
  });
});

describe('the checks of an engine', () => {
  it.each([
    ['engine = "llama-server"', ['/health', '/v1/models', '/v1/chat/completions']],
    [
      'engine = "vllm"\nmodel = "x"\ntype = "embedding"',
      ['/is_sleeping', '/health', '/v1/models', '/v1/embeddings'],
    ],
    ['engine = "flm"\nmodel = "x"', ['/v1/models', '/v1/chat/completions']],
    ['engine = "flm"\nmodel = "x"\ntype = "stt"', []],
    ['engine = "whisper-server"\ntype = "stt"\nmodel = "/x"', ['/health']],
    ['engine = "comfyui"\ntype = "image"\nrunner = "attach"\nurl = "http://h:1"', ['/system_stats']],
    ['engine = "custom"\ncommand = ["p"]', ['/v1/chat/completions']],
    ['engine = "custom"\ncommand = ["p"]\ntype = "tts"', []],
  ])('%s', (text, paths) => {
    const launch = planOf(text);
    expect(
      engineOf(launch.engine)
        ?.checks(launch)
        .map(({ path }) => path),
    ).toEqual(paths);
  });

  it('use the model name that the engine expects, or none', () => {
    const flm = planOf('engine = "flm"\nmodel = "x"', { id: 'a:1b' });
    const [list, trial] = engineOf('flm')?.checks(flm) ?? [];
    expect(trial?.body).toMatchObject({ model: 'a:1b' });
    expect(list?.verdict(200, '{"data":[{"id":"a:1b"}]}')).toBeNull();
    expect(list?.verdict(200, '{"data":[{"id":"b:1b"}]}')).toBe('The model list does not contain the model');
    expect(trial?.verdict(200, 'null')).toBe('The test completion has no choice');
  });
});

describe('speech workers', () => {
  it.each([
    ['type = "tts"', 'speech', 'speech'],
    ['type = "stt"', 'speech', 'transcription'],
    ['type = "tts"\nengine = "espeak"', 'espeak', 'espeak'],
  ])('%j is engine %s, worker kind %s', (text, engine, kind) => {
    expect(planOf(text)).toMatchObject({
      engine,
      device: 'cpu',
      context: 0,
      how: { runner: 'worker', program: 'speech', settings: { kind, modelId: 'small', queueLimit: 8 } },
    });
  });

  it.each([
    ['type = "tts"\ndevice = "cuda:0"', 'device: engine speech runs on auto or cpu, not on cuda:0'],
    [
      'type = "tts"\nengine = "espeak"\nextra_args = ["-x"]',
      'extra_args: engine espeak does not support arguments',
    ],
    ['type = "stt"\nengine = "espeak"', 'type: engine espeak serves tts, not stt'],
  ])('%j is refused', (text, objection) => expect(slotObjection(configOf(text))).toBe(objection));
});
