import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { NGRAM_TOKENS, type WorkerConfig, type WorkerKind } from '../workers/protocol.ts';
import { checksOf } from './checks.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import { ggufLaunch, windowOf } from './gguf.ts';
import type { WorkerRunSpec } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

/** Backends that the worker supports. */
const BACKENDS = ['auto', 'cpu', 'vulkan', 'cuda'];

/** The supported slot types and the worker kind of each. */
const KINDS: Readonly<Record<string, WorkerKind>> = {
  llm: 'chat',
  embedding: 'embedding',
  rerank: 'rerank',
};

function workerSpec(
  launch: Omit<Launch, 'how'>,
  { config, queueLimit }: Pick<LaunchParams, 'config' | 'queueLimit'>,
): WorkerRunSpec {
  const { modelPath, modelId, context, parallel, threads, batch } = launch;
  const device = launch.device as WorkerConfig['device'];
  const kind = KINDS[launch.type] ?? 'chat';
  const path = modelPath ?? '';
  const settings = { kind, modelPath: path, modelId, context, parallel, threads, device, batch, queueLimit };
  const ngramTokens = launch.speculation?.way === 'ngram' ? (config.draftTokens ?? NGRAM_TOKENS) : 0;
  return { runner: 'worker', program: 'llama', settings: { ...settings, ngramTokens, gpuLayers: null } };
}

/**
 * Waking a card takes longer than everything the demonstration model does, so with device `auto` it runs on the
 * CPU.
 */
const deviceOf = ({ device, demo }: Omit<Launch, 'how'>): string =>
  demo && device === 'auto' ? 'cpu' : device;

function plan(params: LaunchParams): Launch {
  const planned = ggufLaunch(params, { nativeRerank: true, model: params.model.id, laterSystem: true });
  const launch = { ...planned, device: deviceOf(planned) };
  return { ...launch, how: workerSpec(launch, params) };
}

function objection(config: SlotConfig): string | null {
  if (!BACKENDS.includes(backendOf(config.device))) {
    return `device: engine embedded runs on auto, cpu, vulkan:N or cuda:N, not on ${config.device}`;
  }
  if (config.batch !== null && KINDS[config.type] !== 'chat')
    return 'batch: engine embedded reads each text of such a slot in one step';
  return config.extraArgs.length > 0 ? 'extra_args: engine embedded does not support arguments' : null;
}

/** llama.cpp inside a worker process of the gateway: the default engine, with nothing to install. */
export const embedded: Engine = {
  id: 'embedded',
  types: new Set(Object.keys(KINDS) as SlotTypeName[]),
  runners: new Set(['worker']),
  modelSource: () => 'registry',
  objection,
  plan,
  context: windowOf,
  checks: (launch) => checksOf(launch, { health: '/health', models: true }),
  answersWhileServing: true,
  exact: true,
};
