import type { SlotTypeName } from '../../contract/slots.ts';
import type { Workflow, WorkflowMapping } from '../../contract/workflow.ts';
import type { DeclaredFamily } from '../../models/images/families.ts';
import type { RunnerId } from '../engines/run-spec.ts';

/** What an image slot draws, beside its `model` (docs/spec/contract.md#image-slot-keys). */
export interface ImageSettings {
  readonly family: DeclaredFamily | null;
  /** The file as ComfyUI lists it. */
  readonly checkpoint: string | null;
  readonly vae: string | null;
  readonly loras: readonly { readonly name: string; readonly strength: number }[];
  readonly defaults: ImageDefaults;
  /** ComfyUI's workflow of the owner; null for a workflow of the gateway. */
  readonly workflow: SlotWorkflow | null;
}

export interface SlotWorkflow {
  /** Name of the file beside the slot file. */
  readonly file: string;
  /** What the slot file maps; the rest is found in the workflow. */
  readonly inputs: WorkflowMapping;
  /** Null until the file has been read. */
  readonly workflow: Workflow | null;
}

/** Values for requests that name none. */
export interface ImageDefaults {
  readonly steps?: number | undefined;
  readonly cfg?: number | undefined;
  readonly sampler?: string | undefined;
  readonly scheduler?: string | undefined;
  readonly clip_skip?: number | undefined;
  readonly negative_prompt?: string | undefined;
}

/**
 * The ways to predict tokens: from the text so far, with a small model, or with layers of the model itself. `auto`: from the
 * text where `svcctl bench` measured that the embedded engine is faster with it.
 */
export const SPECULATIONS = ['auto', 'off', 'ngram', 'draft', 'mtp'] as const;
export type Speculation = (typeof SPECULATIONS)[number];

/** The settings of one slot. */
export interface SlotConfig {
  readonly name: string;
  readonly enabled: boolean;
  /** Created by the gateway for a model that no file names. */
  readonly auto: boolean;
  readonly type: SlotTypeName;
  readonly engine: string;
  readonly runner: RunnerId;
  /** Model id or path; null lets the gateway choose (slots `agent`, `embed`, `rerank`, `tts` and `stt` only). */
  readonly model: string | null;
  readonly device: string;
  /** Context window per sequence in tokens; null for the engine's default. */
  readonly context: number | null;
  /** Number of requests that are served at once. */
  readonly parallel: number;
  /** Tokens evaluated in one step; null for the engine's default. */
  readonly batch: number | null;
  /** Whether the experts of a mixture of experts stay on the CPU; null lets admission choose. */
  readonly cpuMoe: boolean | null;
  /** Number of layers whose experts stay on the CPU; null lets `cpuMoe` decide. */
  readonly nCpuMoe: number | null;
  /** Bytes of memory that the owner sets, instead of an estimate or a measurement; null for none. */
  readonly memoryBytes: number | null;
  /** How tokens are predicted, which the model then checks in one step. */
  readonly speculation: Speculation;
  /** Id or path of the model that predicts tokens; null for none. */
  readonly draftModel: string | null;
  /** Maximum number of tokens that are predicted at once; null for the engine's default. */
  readonly draftTokens: number | null;
  readonly autoload: boolean;
  readonly pinned: boolean;
  readonly priority: number;
  /** Seconds without a request until the slot is unloaded; 0 = never. */
  readonly idleUnloadS: number;
  readonly extraArgs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly voice: { voice?: string; speed?: number; response_format?: string } | null;
  readonly enableThinking: boolean | null;
  /** Whether the model reads images. */
  readonly vision: boolean;
  /** Shorter vector lengths that the embedding model was trained for (Matryoshka). */
  readonly dimensions: readonly number[];
  /** The program and its first arguments, instead of the engine's own program. */
  readonly command: readonly string[] | null;
  /** Path of the request that shows whether the model is loaded. */
  readonly health: string | null;
  readonly image: string | null;
  readonly pull: 'missing' | 'never' | 'always';
  /** Port inside the container. */
  readonly port: number | null;
  /** The address of a server that is run by someone else. */
  readonly url: string | null;
  /** The environment variable with the key: of the gateway for `url`, of the program for `command` and `image`. */
  readonly keyEnv: string | null;
  /** Null when the file sets none of its keys. */
  readonly imageSettings: ImageSettings | null;
  /** The keys that the file sets; every other value is a default. */
  readonly fileKeys: readonly string[];
}
