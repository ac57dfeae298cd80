import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { RunnerId, RunSpec } from './run-spec.ts';

/** The model that a slot is to serve, as the registry knows it. */
export interface SlotModel {
  /** The id that clients use. */
  readonly id: string;
  /** Absolute path of the file (of the first part of a split one); null when the engine finds the model by its name. */
  readonly path: string | null;
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
  /** Absolute path and bytes of the file beside it with which it sees pictures; null without one. */
  readonly projectorPath?: string | null;
  readonly projectorBytes?: number | null;
  /** Names of its voices; none where it does not speak or they are not known. */
  readonly voices?: readonly string[];
}

/** How a request must be put to an engine, beyond what every OpenAI-style server understands. Plain data. */
export interface Dialect {
  /** Rerank is served under its native path only. */
  readonly nativeRerank: boolean;
  /** The name by which the engine knows the model; null: it looks at no name, what the caller wrote stays. */
  readonly model: string | null;
  /** Where it counts the tokens of a chat, when not where llama-server does. */
  readonly countPath?: string;
}

/** What is to be run, decided before anything is started; plain data that a plan view may show. */
export interface Launch {
  readonly slot: string;
  readonly engine: string;
  readonly type: SlotTypeName;
  readonly modelId: string;
  /** Absolute path of the model; null when the engine finds it by its name. */
  readonly modelPath: string | null;
  /** Bytes of the projector that is loaded with the model; absent when none is. */
  readonly projectorBytes?: number;
  readonly demo: boolean;
  /** Window per sequence in tokens; 0 when the engine has none. */
  readonly context: number;
  /** Requests served at once. */
  readonly parallel: number;
  /** Windows that are held in memory. */
  readonly sequences: number;
  /** Tokens evaluated in one step. */
  readonly batch: number;
  readonly threads: number;
  readonly device: string;
  /** Variables beside the fixed list that every engine gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds until the model must be loaded. */
  readonly startLimitMs: number;
  /** What the slot asked for and does not get; null when it gets all. */
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
  /** The card that was chosen for a slot with device `auto`, in the words of each backend; absent when none was. */
  readonly card?: readonly string[];
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

/**
 * Where the model of a slot comes from: `registry` (a GGUF file that the registry knows), `file` (any file or folder by
 * its absolute path, or one of the registry), `name` (a word that the engine understands; the slot's name when the
 * file names none).
 */
export type ModelSource = 'registry' | 'file' | 'name';

/** What is served: how an engine is asked to load a model and how its health shows. Knows nothing of processes. */
export interface Engine {
  readonly id: string;
  readonly types: ReadonlySet<SlotTypeName>;
  /** The first is the default of a slot file that names none. */
  readonly runners: ReadonlySet<RunnerId>;
  modelSource(config: SlotConfig): ModelSource;
  /** Why this engine cannot serve such a slot, naming the key at fault; null when it can. */
  objection(config: SlotConfig): string | null;
  /** The launch for a slot without objection. Pure. */
  plan(params: LaunchParams): Launch;
  /** The window, in tokens per sequence, that `plan` will ask for. */
  context(config: SlotConfig, model: SlotModel): number;
  checks(launch: Launch): readonly Check[];
  /** True when its health is answered also while requests are served; default false. */
  readonly answersWhileServing?: boolean;
  /** The name of the one process that all its slots share where it is a program of the gateway; absent: each has its own. */
  readonly shared?: string;
  /** Its embeddings and rankings have the shape of this gateway: nothing of them is looked at again. */
  readonly exact?: boolean;
  /** It makes vectors of texts only, not of token ids. */
  readonly textOnly?: boolean;
  /** True when it loads the projector of a model, so that the model sees pictures; default false. */
  readonly takesProjector?: boolean;
  /** False when it never answers in events: whoever asks it for a stream gets the whole answer. */
  readonly streams?: false;
  /** Sound formats that it makes, when it speaks and makes not all that OpenAI names; the others are made from these. */
  readonly speechFormats?: readonly string[];
}
