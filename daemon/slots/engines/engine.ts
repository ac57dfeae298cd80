import type { SlotTypeName } from '../../contract/slots.ts';
import type { SpeculationView } from '../../contract/speculation.ts';
import type { ContextMemory } from '../../models/context-memory.ts';
import type { ExpertWeights } from '../../models/gguf-metadata.ts';
import type { NgramSpeed } from '../../models/ngram-speed.ts';
import type { SamplingDefaults } from '../../models/sampling-defaults.ts';
import type { SimulatedContext } from '../../models/simulated-context.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { RunnerId, RunSpec } from './run-spec.ts';

/** The model that a slot serves, as the registry knows it. */
export interface SlotModel {
  /** The model id that clients use. */
  readonly id: string;
  /**
   * Absolute path of the file (of the first part of a split one); null when the engine finds the model by its name.
   */
  readonly path: string | null;
  readonly type: SlotTypeName;
  /** Format and architecture of its files, and types of tensors that the embedded engine does not know; absent when unknown. */
  readonly format?: string;
  readonly architecture?: string | null;
  readonly unknownTypes?: readonly number[];
  /** Whether it is the built-in demonstration model. */
  readonly demo: boolean;
  readonly sizeBytes: number;
  /** Context window that the model was trained for, in tokens. */
  readonly contextTrain: number | null;
  /** Bytes of keys and values for one token of the window; null when the header does not contain it. */
  readonly kvBytesPerToken?: number | null;
  /** What its context takes in memory; null when the header does not say. */
  readonly contextMemory?: ContextMemory | null;
  /** What llama.cpp says about its contexts; empty or null when it does not. */
  readonly simulated?: SimulatedContext | null;
  /** Whether it reads a text in several steps although it returns a vector or a score. */
  readonly readsInSteps?: boolean;
  /** Bytes of its weights that a card holds; null when unknown. */
  readonly cardBytes?: number | null;
  /** The experts of a mixture of experts, which the engine can keep on the host; null for any other model. */
  readonly experts?: ExpertWeights | null;
  /** Bytes of the weights that one token reads; null when unknown. */
  readonly activeBytes?: number | null;
  /** The window of a chat slot whose file names none, in tokens; the engine's default when absent. */
  readonly defaultContext?: number;
  /** The sampling that its file recommends, by request field. */
  readonly sampling?: SamplingDefaults;
  /** Embedding width of the model, in values. */
  readonly embedding?: number | null;
  /** Bytes measured on this machine with this model. */
  readonly measuredBytes?: number | null;
  /** Absolute path and bytes of its projector, which lets it read images; null without one. */
  readonly projectorPath?: string | null;
  readonly projectorBytes?: number | null;
  /** What predicting tokens from the text gains on this device; absent when it was not measured. */
  readonly ngram?: NgramSpeed | null;
  /** The model of `draft_model`; absent when the slot names none or it is not there. */
  readonly draft?: Pick<SlotModel, 'path' | 'sizeBytes' | 'contextMemory'>;
  /** Names of its voices; empty when it is no speech model or they are unknown. */
  readonly voices?: readonly string[];
}

/** How an engine differs from what every OpenAI-style server understands. Plain data. */
export interface Dialect {
  /** Rerank is available under its native path only. */
  readonly nativeRerank: boolean;
  /** Its rerank scores are the raw output of the model. */
  readonly rawRerank?: true;
  /** It counts the tokens of a stream only when `stream_options` requests it. */
  readonly streamUsage?: true;
  /** The model name that the engine expects; null when it ignores the name, which is then left unchanged. */
  readonly model: string | null;
  /** Path of its token count for chats, if it differs from that of llama-server. */
  readonly countPath?: string;
  /** It takes system messages at any position of a chat, whatever the template of the model. */
  readonly laterSystem?: true;
  /** The engine continues an answer that the caller began only when that is requested. */
  readonly continuesOnRequest?: true;
}

/** What to start, decided before anything is started. Plain data that a plan view may show. */
export interface Launch {
  readonly slot: string;
  readonly engine: string;
  readonly type: SlotTypeName;
  readonly modelId: string;
  /** Absolute path of the model; null when the engine finds it by its name. */
  readonly modelPath: string | null;
  /** Bytes of the projector that is loaded with the model; absent when there is none. */
  readonly projectorBytes?: number;
  /** Bytes of the model that predicts tokens, with its windows; absent when there is none. */
  readonly draftBytes?: number;
  readonly demo: boolean;
  /** Context window per sequence in tokens; 0 when the engine has none. */
  readonly context: number;
  /** Requests served at once. */
  readonly parallel: number;
  /** Number of context windows in memory. */
  readonly sequences: number;
  /** Tokens evaluated in one step. */
  readonly batch: number;
  /** Number of layers whose experts stay on the CPU; absent when all are on the card. */
  readonly expertLayersOnCpu?: number;
  /** Whether tokens are predicted, and why. */
  readonly speculation?: SpeculationView;
  /** Tokens that the model predicts ahead with additional layers; absent when it does not. */
  readonly draftTokens?: number;
  readonly threads: number;
  readonly device: string;
  /** Environment variables in addition to the fixed list that every engine gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds within which the model must be loaded. */
  readonly startLimitMs: number;
  /** What the slot requested and does not get; null when it gets everything. */
  readonly degraded: string | null;
  readonly dialect: Dialect;
  readonly how: RunSpec;
}

/** A launch for one runner. */
export type LaunchFor<R extends RunnerId> = Launch & { readonly how: Extract<RunSpec, { runner: R }> };

export interface LaunchParams {
  readonly config: SlotConfig;
  readonly model: SlotModel;
  readonly threads: number;
  readonly queueLimit: number;
  /** Number of layers whose experts stay on the CPU; absent for none. */
  readonly expertLayersOnCpu?: number;
  /** The card chosen for a slot with device `auto`, as one device word per backend; absent when none was chosen. */
  readonly card?: readonly string[];
}

/** What decides the memory of a program. */
export interface MemoryParams {
  readonly config: SlotConfig;
  readonly model: SlotModel;
  /** Whether it takes the memory of a card. */
  readonly onCard: boolean;
}

/** What a program takes in memory, in bytes, before it was ever measured (docs/internals/program-memory.md). */
export interface EngineMemory {
  /** Its processes and libraries without a model. */
  readonly engine: number;
  /** The weights as it holds them. */
  readonly weights: number;
  /** The space that it reserves for contexts. */
  readonly window: number;
  /** Buffers and results at the largest input. */
  readonly compute: number;
  /** The share of the whole card that it takes whatever the model; absent when the sum of the parts counts. */
  readonly cardShare?: number;
  /** What it takes of the host in addition to a card. */
  readonly host?: number;
}

/** One check of a started engine. All checks must pass before the slot is ready. */
export interface Check {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly limitMs: number;
  /** Returns what is wrong with the response, in one line; null when it is good. */
  verdict(status: number, body: string): string | null;
}

/**
 * Where the model of a slot comes from: `registry` (a GGUF file in the registry), `file` (any file or folder by its
 * absolute path, or one of the registry), `name` (a name that the engine understands; the slot's name when the file
 * sets none).
 */
export type ModelSource = 'registry' | 'file' | 'name';

/** An engine: how it is made to load a model and how its health is checked. It does not know about processes. */
export interface Engine {
  readonly id: string;
  readonly types: ReadonlySet<SlotTypeName>;
  /** The first one is the default for slot files that name none. */
  readonly runners: ReadonlySet<RunnerId>;
  modelSource(config: SlotConfig): ModelSource;
  /** Returns why this engine cannot serve such a slot, starting with the invalid key; null when it can. */
  objection(config: SlotConfig): string | null;
  /** Returns the launch for a slot without objection. Pure. */
  plan(params: LaunchParams): Launch;
  /** Returns the context window that `plan` will request, in tokens per sequence. */
  context(config: SlotConfig, model: SlotModel): number;
  checks(launch: Launch): readonly Check[];
  /** Returns the memory of its program; absent for llama.cpp, which maps its weights (`admission/memory-estimate.ts`). */
  readonly memory?: (params: MemoryParams) => EngineMemory;
  /** True when its health check works while requests are served; default false. */
  readonly answersWhileServing?: boolean;
  /**
   * The name of the one process that all its slots share when the gateway starts it; absent when each slot has its
   * own.
   */
  readonly shared?: string;
  /** True when its embeddings and rankings already have the gateway's format and need no conversion. */
  readonly exact?: boolean;
  /** True when it has `/v1/score`; default false. */
  readonly hasScore?: boolean;
  /** True when it embeds texts only, not token ids. */
  readonly textOnly?: boolean;
  /** True when it loads the projector of a model, so that the model can read images; default false. */
  readonly takesProjector?: boolean;
  /** False when it never streams: a streaming request gets the whole response. */
  readonly streams?: false;
  /**
   * Audio formats that it produces when it does not support all formats of OpenAI; the others are converted from
   * these.
   */
  readonly speechFormats?: readonly string[];
}
