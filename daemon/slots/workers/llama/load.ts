import { access, constants } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { getLlama, type Llama, type LlamaContext, LlamaLogLevel, type LlamaModel } from 'node-llama-cpp';
import { collectGarbage } from '../../../lib/perf/collect-garbage.ts';
import { type ChatFormat, chatFormat } from '../../../models/chat-format.ts';
import { type SamplingDefaults, samplingDefaults } from '../../../models/sampling-defaults.ts';
import type { LoadWatch } from '../lifecycle.ts';
import type { WorkerConfig, WorkerInfo } from '../protocol.ts';
import { cudaDiagnosis, machineSources, vulkanDiagnosis } from './backend-diagnosis.ts';
import { BatchPlan } from './batch-plan.ts';
import { EngineLog } from './engine-log.ts';
import { canHaveCard } from './gpu-nodes.ts';
import { skipSimulation } from './skip-simulation.ts';

/** A loaded model and the context that evaluates its tokens. */
export interface OpenedModel<C> {
  llama: Llama;
  model: LlamaModel;
  context: C;
}

/** A loaded chat model. */
export interface LoadedModel extends OpenedModel<LlamaContext> {
  info: WorkerInfo;
  batches: BatchPlan;
}

const DEFAULT_CONTEXT = 8_192;
const DEFAULT_BATCH = 512;
const GPU = { auto: 'auto', cpu: false, vulkan: 'vulkan', cuda: 'cuda' } as const;
/** The device option of the library. Without a GPU the best device is the CPU. */
const gpuFor = (device: WorkerConfig['device']) =>
  device === 'auto' && !canHaveCard() ? GPU.cpu : GPU[device];
/**
 * The memory that the library leaves free, instead of its default of up to 1.6 GiB. Admission has granted the memory
 * and keeps 512 MiB free by itself: with a larger reserve the library refuses loads that were admitted (seen on an
 * H200).
 */
const LIBRARY_RESERVE_BYTES = 128 * 1024 * 1024;
/** Why no binary of the library runs on a requested device. */
const DIAGNOSES: Readonly<Record<string, () => string>> = {
  vulkan: () => vulkanDiagnosis(machineSources()),
  cuda: cudaDiagnosis,
};
const NO_BINARY = 'llama.cpp has no binary for this machine';
/** Bytes of unread stderr after which further lines are dropped. */
const STDERR_BACKLOG = 1 << 16;

/** Loads a chat model and creates its context. Throws like {@link openModel}. */
export async function loadModel(config: WorkerConfig, watch: LoadWatch): Promise<LoadedModel> {
  const placed = { contextSize: (config.context ?? DEFAULT_CONTEXT) * config.parallel };
  const batches = new BatchPlan();
  const opened = await openModel(config, watch, placed, (model) =>
    model.createContext({
      sequences: config.parallel,
      contextSize: contextSize(config.context, model.trainContextSize),
      batchSize: config.batch ?? DEFAULT_BATCH,
      threads: config.threads,
      createSignal: watch.signal,
      batching: { dispatchSchedule: 'nextCycle', itemPrioritizationStrategy: batches.divide },
    }),
  );
  const { context } = opened;
  const sizes = {
    context: context.contextSize,
    parallel: context.totalSequences,
    threads: context.idealThreads,
  };
  return { ...opened, info: await workerInfo(opened, sizes), batches };
}

/**
 * Loads the model, on the device as far as `placed` fits next to it, and creates its context. Throws a
 * one-line Error that names the cause and contains no folder. A device that was requested by name and does
 * not load is an error; it never falls back to the CPU.
 */
export async function openModel<C>(
  config: WorkerConfig,
  watch: LoadWatch,
  placed: { contextSize: number; embeddingContext?: boolean },
  makeContext: (model: LlamaModel) => Promise<C>,
): Promise<OpenedModel<C>> {
  const log = new EngineLog(writeStderr);
  try {
    await access(config.modelPath, constants.R_OK);
    const llama = await getLlama({
      gpu: gpuFor(config.device),
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      logLevel: LlamaLogLevel.error,
      logger: (level, message) => log.add(level, message),
      maxThreads: config.threads,
      vramPadding: LIBRARY_RESERVE_BYTES,
      ramPadding: LIBRARY_RESERVE_BYTES,
    });
    if (config.device === 'auto' && llama.gpu === false && canHaveCard()) {
      log.add(
        'warn',
        'the CPU is used: no GPU backend started; device = "vulkan:0" in the slot file shows why',
      );
    }
    if (isNamed(config.device) && (await llama.getGpuDeviceNames()).length === 0) {
      throw new Error(`llama.cpp finds no ${config.device} device that it may use`);
    }
    if (llama.gpu === false) skipSimulation();
    const model = await llama.loadModel({
      modelPath: config.modelPath,
      gpuLayers: config.gpuLayers ?? { fitContext: placed },
      onLoadProgress: watch.onProgress,
      loadSignal: watch.signal,
    });
    if (isNamed(config.device) && model.gpuLayers === 0) {
      throw new Error(`the ${config.device} device has no memory for a single layer of it`);
    }
    const context = await makeContext(model);
    // The library reads the header into buffers that grow, and drops up to 100 MB of them.
    collectGarbage();
    return { llama, model, context };
  } catch (error) {
    throw new Error(reason(error, config, await log.cause()), { cause: error });
  }
}

/** Returns whether the slot requested a specific device. The model is not loaded without it. */
const isNamed = (device: WorkerConfig['device']): boolean => device === 'vulkan' || device === 'cuda';

function contextSize(requested: number | null, trained: number): number {
  return requested ?? (trained > 0 ? Math.min(trained, DEFAULT_CONTEXT) : DEFAULT_CONTEXT);
}

/** Returns the facts of a loaded model with its effective sizes. */
export async function workerInfo(
  { llama, model }: Pick<OpenedModel<unknown>, 'llama' | 'model'>,
  sizes: Pick<WorkerInfo, 'context' | 'parallel' | 'threads'>,
): Promise<WorkerInfo> {
  const used = model.gpuLayers > 0 && llama.gpu !== false ? llama.gpu : 'cpu';
  return {
    device: used,
    deviceNames: used === 'cpu' ? [] : await llama.getGpuDeviceNames(),
    gpuLayers: model.gpuLayers,
    layers: model.fileInsights.totalLayers,
    ...sizes,
    contextTrain: model.trainContextSize > 0 ? model.trainContextSize : null,
    architecture: model.architecture ?? null,
    chatTemplate: ownTemplate(model) !== null,
    size: model.size,
  };
}

/** Returns the sampling that the file recommends. */
export function modelSampling(model: LlamaModel): SamplingDefaults {
  // The types of the library do not know these keys.
  const general = model.fileInfo.metadata.general as
    | { readonly sampling?: Readonly<Record<string, unknown>> }
    | undefined;
  const values = general?.sampling ?? {};
  return samplingDefaults((key) => values[key]);
}

/** Returns the chat template of the file. */
export function ownTemplate(model: LlamaModel): string | null {
  const template: unknown = model.fileInfo.metadata.tokenizer?.chat_template;
  return typeof template === 'string' && template !== '' ? template : null;
}

/** Returns the format of chats of a model without a template. */
export const formatOf = (model: LlamaModel): ChatFormat =>
  chatFormat(model.fileInfo.metadata.tokenizer?.ggml?.tokens);

/** Returns the second template for chats with tools, which files of Hermes 2 Pro and Command R contain. */
export function toolTemplate(model: LlamaModel): string | null {
  const tokenizer: Readonly<Record<string, unknown>> = { ...model.fileInfo.metadata.tokenizer };
  const template = tokenizer['chat_template.tool_use'];
  return typeof template === 'string' && template !== '' ? template : null;
}

function reason(error: unknown, config: WorkerConfig, cause: string | null): string {
  const file = basename(config.modelPath);
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return `the model file ${file} does not exist`;
  if (code === 'EACCES') return `the model file ${file} cannot be read`;
  const name = error instanceof Error ? error.constructor.name : '';
  const message = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  if (name === 'NoBinaryFoundError')
    return `${config.device} cannot be used: ${DIAGNOSES[config.device]?.() ?? NO_BINARY}`;
  const detail = cause === null || cause === message ? message : `${message} (${cause})`;
  return `${file}: ${detail}`.replaceAll(`${dirname(config.modelPath)}/`, '').slice(0, 500);
}

function writeStderr(line: string): void {
  if (process.stderr.writableLength < STDERR_BACKLOG) process.stderr.write(line);
}
