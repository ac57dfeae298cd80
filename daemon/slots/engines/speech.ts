import { isAbsolute } from 'node:path';
import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SpeechConfig } from '../workers/speech-config.ts';
import { checksOf } from './checks.ts';
import { commonLaunch } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
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

/** The common properties of all engines in the speech worker. */
export const IN_SPEECH_WORKER = {
  runners: new Set(['worker']),
  objection: speechObjection,
  context: () => 0,
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
