import { isAbsolute } from 'node:path';
import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SpeechConfig } from '../workers/speech-config.ts';
import { checksOf } from './checks.ts';
import { commonLaunch } from './common.ts';
import type { Engine, EngineMemory, Launch, LaunchParams, MemoryParams } from './engine.ts';
import { MIB } from './program-memory.ts';
import type { WorkerRunSpec } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

/** The supported slot types and the worker kind of each. */
const KINDS: Readonly<Partial<Record<SlotTypeName, SpeechConfig['kind']>>> = {
  tts: 'speech',
  stt: 'transcription',
};

/** Returns the run spec of the speech worker for one launch. */
export function speechSpec(
  launch: Omit<Launch, 'how'>,
  kind: SpeechConfig['kind'],
  queueLimit: number,
): WorkerRunSpec {
  const { modelPath, modelId, parallel, threads } = launch;
  const settings = { kind, modelPath: modelPath ?? '', modelId, parallel, threads, queueLimit };
  return { runner: 'worker', program: 'speech', settings };
}

function plan(params: LaunchParams): Launch {
  const common = commonLaunch(params, { nativeRerank: false, model: params.model.id });
  const launch = { ...common, device: 'cpu' };
  return { ...launch, how: speechSpec(launch, KINDS[launch.type] ?? 'speech', params.queueLimit) };
}

/** Returns why the speech worker cannot serve a slot, starting with the key; null when it can. */
export function speechObjection(config: SlotConfig): string | null {
  if (!['auto', 'cpu'].includes(backendOf(config.device)))
    return `device: engine ${config.engine} runs on auto or cpu, not on ${config.device}`;
  return config.extraArgs.length > 0
    ? `extra_args: engine ${config.engine} does not support arguments`
    : null;
}

/** Bytes of the worker without a model. */
const WORKER_BYTES = 72 * MIB;
/** ONNX Runtime holds the weights of the file and copies in the layout of its kernels. */
const BYTES_PER_FILE_BYTE = 1.84;
/** Arena of a voice after its longest piece of text (`MAX_PIECE_CHARS`), by family. */
const VOICE_ARENAS: Readonly<Record<string, number>> = { kokoro: 200 * MIB };
const VOICE_ARENA_BYTES = 176 * MIB;
/** A recogniser gets 30 s at most. Its arena grows with the size of the model. */
const RECOGNISER_ARENA_PER_FILE_BYTE = 0.68;
const MIN_RECOGNISER_ARENA_BYTES = 32 * MIB;

function arenaBytes({ config, model }: MemoryParams): number {
  if (model.sizeBytes === 0) return 0;
  if (config.type !== 'tts')
    return Math.max(MIN_RECOGNISER_ARENA_BYTES, Math.ceil(model.sizeBytes * RECOGNISER_ARENA_PER_FILE_BYTE));
  return VOICE_ARENAS[model.architecture ?? ''] ?? VOICE_ARENA_BYTES;
}

const memory = (params: MemoryParams): EngineMemory => ({
  engine: WORKER_BYTES,
  weights: Math.ceil(params.model.sizeBytes * BYTES_PER_FILE_BYTE),
  window: 0,
  compute: arenaBytes(params),
});

/** The common properties of all engines in the speech worker. */
export const IN_SPEECH_WORKER = {
  runners: new Set(['worker']),
  objection: speechObjection,
  context: () => 0,
  memory,
  checks: (launch) => checksOf(launch, { health: '/health', models: true }),
  answersWhileServing: true,
  speechFormats: ['wav', 'pcm'],
} satisfies Partial<Engine>;

/** sherpa-onnx inside a worker process of the gateway: voices and recognisers in ONNX folders, on the CPU. */
export const speech: Engine = {
  ...IN_SPEECH_WORKER,
  id: 'speech',
  types: new Set(Object.keys(KINDS) as SlotTypeName[]),
  modelSource: ({ model }) => (model !== null && isAbsolute(model) ? 'file' : 'registry'),
  plan,
};
