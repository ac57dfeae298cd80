import type { Launch, LaunchFor } from '../engines/engine.ts';

/** Returns a launch of the embedded engine, for runner tests. */
export const workerLaunch = (over: Partial<Launch> = {}): LaunchFor<'worker'> => ({
  slot: 'agent',
  engine: 'embedded',
  type: 'llm',
  modelId: 'tiny',
  modelPath: '/m/tiny.gguf',
  demo: false,
  context: 512,
  parallel: 1,
  sequences: 1,
  batch: 512,
  threads: 1,
  device: 'cpu',
  env: {},
  startLimitMs: 60_000,
  degraded: null,
  dialect: { nativeRerank: true, model: 'tiny' },
  ...over,
  how: {
    runner: 'worker',
    program: 'llama',
    settings: {
      kind: 'chat',
      modelPath: '/m/tiny.gguf',
      modelId: 'tiny',
      context: 512,
      parallel: 1,
      threads: 1,
      device: 'cpu',
      gpuLayers: null,
      batch: 512,
      queueLimit: 1,
      ngramTokens: 0,
    },
  },
});

/** Returns a launch of an image, for runner tests. */
export const containerLaunch = (
  how: Partial<LaunchFor<'container'>['how']> = {},
  over: Partial<Launch> = {},
): LaunchFor<'container'> => ({
  ...workerLaunch(),
  slot: 'boxed',
  engine: 'custom',
  modelPath: null,
  ...over,
  how: {
    runner: 'container',
    image: 'localhost/stand-in',
    args: ['tiny'],
    env: { PORT: '{port}' },
    mounts: [],
    devices: [],
    port: 8080,
    modelPath: null,
    key: { by: 'env', name: 'KEY' },
    pull: 'missing',
    shmBytes: null,
    probe: { path: '/health', loading: [503] },
    ...how,
  },
});
