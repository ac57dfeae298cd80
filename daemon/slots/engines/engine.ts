import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../slot-file.ts';

/** The model that a slot is to serve, as the registry knows it. */
export interface SlotModel {
  /** The id that clients use. */
  readonly id: string;
  /** Absolute path of the file (of the first part of a split one). */
  readonly path: string;
  readonly type: SlotTypeName;
  /** The built-in demonstration model. */
  readonly demo: boolean;
  readonly sizeBytes: number;
  /** Window the model was trained for, in tokens. */
  readonly contextTrain: number | null;
  /** Keys and values of one token of the window, in bytes; null when the header does not tell. */
  readonly kvBytesPerToken?: number | null;
  /** Width of the model, in values. */
  readonly embedding?: number | null;
  /** Memory measured on this machine with this model, in bytes. */
  readonly measuredBytes?: number | null;
}

/** What an engine makes of text: an answer, a vector, or a score for each document. */
export type LaunchKind = 'chat' | 'embedding' | 'rerank';

/** What is to be run, decided before anything is started; plain data that a plan view may show. */
export interface Launch {
  readonly kind: LaunchKind;
  readonly slot: string;
  readonly modelId: string;
  readonly modelPath: string;
  readonly demo: boolean;
  /** Window per sequence in tokens. */
  readonly context: number;
  /** Requests served at once. */
  readonly parallel: number;
  /** Windows that are held in memory. */
  readonly sequences: number;
  /** Tokens evaluated in one step. */
  readonly batch: number;
  readonly threads: number;
  readonly device: string;
  /** Requests that the engine itself may hold back. */
  readonly queueLimit: number;
  /** Variables beside the fixed list that every engine gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds until the model must be loaded. */
  readonly startLimitMs: number;
  /** What the slot asked for and does not get; null when it gets all. */
  readonly degraded: string | null;
}

export interface LaunchOrder {
  readonly config: SlotConfig;
  readonly model: SlotModel;
  readonly threads: number;
  readonly queueLimit: number;
}

/** One question to a started engine; every one must be answered well before the slot is ready. */
export interface Check {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly limitMs: number;
  /** What is wrong with the answer, in one line; null when it is good. */
  verdict(status: number, body: string): string | null;
}

/** What is served: how an engine is asked to load a model and how its health shows. Knows nothing of processes. */
export interface Engine {
  readonly id: string;
  readonly types: ReadonlySet<SlotTypeName>;
  readonly runners: ReadonlySet<SlotConfig['runner']>;
  /** Why this engine cannot serve such a slot; null when it can. */
  objection(config: SlotConfig): string | null;
  /** The launch for a slot without objection. Pure. */
  plan(order: LaunchOrder): Launch;
  /** The window, in tokens per sequence, that `plan` will ask for. */
  context(config: SlotConfig, model: SlotModel): number;
  checks(launch: Launch): readonly Check[];
}
