import { z } from 'zod';
import { ModelFit } from './catalog.ts';

/** One record of `GET /v1/models`. */
export const V1Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  /** Unix seconds, stable over restarts. */
  created: z.number().int(),
  owned_by: z.string(),
  name: z.string(),
  /** What the name refers to, in one sentence. */
  description: z.string(),
  /** The window in tokens; absent when unknown. */
  context_length: z.number().int().optional(),
  max_model_len: z.number().int().optional(),
  architecture: z.object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) }),
  capabilities: z.record(z.string(), z.boolean()),
  pricing: z.object({ prompt: z.string(), completion: z.string() }),
  /** The description again, where UIs of other servers read it. */
  meta: z.object({ description: z.string() }),
  _svc: z.object({
    slot: z.string().nullable(),
    state: z.string(),
    /** Requests that the slot runs, and those that wait for it. */
    active: z.number().int().optional(),
    queued: z.number().int().optional(),
    /** The other slots that share the engine of the slot. Their requests are the same ones. */
    shares: z.array(z.string()).optional(),
    is_alias: z.boolean().optional(),
    virtual: z.boolean().optional(),
    resolves_to: z.string().optional(),
    device: z.string().optional(),
    demo: z.boolean().optional(),
    /** The built-in chat template of a model whose file has none. */
    chat_template: z.string().optional(),
  }),
});
export const V1ModelList = z.object({
  object: z.literal('list'),
  data: z.array(V1Model),
  /** The form of Codex, for a request with `client_version`. */
  models: z.array(z.looseObject({ slug: z.string() })).optional(),
});

/** The model of slot `agent` (`GET /api/agent`). */
export const AgentResponse = z.object({
  /** The model that the slot has; null without one. */
  model: z.string().nullable(),
  /** What decides: the slot file (or a swap), a setting, or the gateway, which keeps the model that has served. */
  chosen_by: z.enum(['slot_file', 'setting', 'gateway']),
  /** A larger model that fits and that the owner has not decided about; null for none. It is never taken. */
  offer: z.object({ model: z.string(), name: z.string(), size_bytes: z.number().int() }).nullable(),
});
export const AgentPut = z.strictObject({
  /** Id of a chat model. The model that the slot has already declines the offer. */
  model: z.string().min(1).max(256),
});

/** An alias or preset of config.toml (`GET /api/models/names`). */
export const ModelName = z.object({
  kind: z.enum(['alias', 'preset']),
  /** The name; with `*`, every name that it matches and nothing else has. */
  name: z.string(),
  /** The name in config.toml that it stands for. */
  target: z.string(),
  /** The model that serves it now; null when nothing does. */
  model: z.string().nullable(),
  slot: z.string().nullable(),
  upstream: z.string().nullable(),
  /** What a preset changes: names of fields, without values. */
  set: z.array(z.string()),
  default: z.array(z.string()),
  strip: z.array(z.string()),
  /** Whether it has a system text. */
  system: z.boolean(),
  /** Why it has no effect or leads nowhere; null when it works. */
  problem: z.string().nullable(),
});
export const ModelNamesResponse = z.object({ names: z.array(ModelName) });

/** What the registry itself stores about a model. */
export const RegistryView = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['llm', 'embedding', 'rerank', 'stt', 'tts', 'image']),
  format: z.string(),
  architecture: z.string().nullable(),
  quantization: z.string().nullable(),
  size_bytes: z.number().int(),
  context_length: z.number().int().nullable(),
  enable_thinking: z.boolean().nullable(),
  demo: z.boolean(),
  binding: z.string().nullable(),
  created: z.number().int(),
  /** Its source. The gateway deletes files of pulled models only. */
  source: z.enum(['demo', 'scan', 'register', 'program', 'pull']),
  licence: z.string().nullable(),
  /** Where it was pulled from: repository, commit, and the checksum of a single-file model. */
  repo: z.string().nullable(),
  revision: z.string().nullable(),
  sha256: z.string().nullable(),
  /** Whether a projector file is next to it, which lets capable engines read images. */
  projector: z.boolean(),
  /** The built-in chat template of a chat model whose file has none; null for all others. */
  chat_template: z.string().nullable(),
});

/** One row of the registry (`GET /api/models`); never a path. */
export const ModelView = RegistryView.extend({
  /** Maximum bytes used on this machine, by memory pool (`host`, or the id of a GPU). */
  memory: z.record(z.string(), z.number().int()),
  /** Whether `binding` was set by an administrator; else it is the automatic slot of the model, or null. */
  binding_chosen: z.boolean(),
  /** Capabilities in addition to its type, from its header. */
  capabilities: z.record(z.string(), z.boolean()),
  parameters: z.number().nullable(),
  /** Whether `enable_thinking` was set by an administrator; else it comes from its header. */
  thinking_chosen: z.boolean(),
  /** Why no engine of the gateway serves its format by itself, and what to do; null when one does. */
  unserved: z.object({ reason: z.string(), advice: z.string() }).nullable(),
  /** Whether it could be loaded now; null while it is loaded, or when no engine serves it automatically. */
  fit: ModelFit.nullable(),
});
/** A file in a model folder, or a registered model, that cannot be used, or a folder that cannot be read. */
export const ModelProblem = z.object({
  file: z.string(),
  reason: z.string(),
  /** What to do; null when nothing is known. */
  advice: z.string().nullable(),
});
export const ModelsResponse = z.object({
  models: z.array(ModelView),
  /** The result of the last scan. */
  problems: z.array(ModelProblem),
});

/** Changeable properties of a model. Absent ones stay unchanged. */
export const ModelPut = z
  .strictObject({
    /**
     * `slot:NAME`, `upstream:NAME`, or null to let the gateway choose. A slot with another model is swapped
     * to this one first: its file names it from then on, and the response is sent when it is loaded.
     */
    binding: z
      .string()
      .regex(/^(slot|upstream):[a-z0-9][a-z0-9_-]{0,31}$/, 'must be slot:NAME or upstream:NAME')
      .nullable()
      .optional(),
    /** Whether it thinks when neither the request nor its slot decides; null uses the value of its header. */
    enable_thinking: z.boolean().nullable().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must name binding or enable_thinking');

/** A file or folder of the machine that the gateway runs on. */
export const ModelRegister = z.strictObject({
  /** `~/` is the home folder of the user that runs the gateway. */
  path: z
    .string()
    .max(4096)
    .regex(/^(\/|~\/)[^\u0000-\u001f\u007f]+$/, 'must be an absolute path, such as /srv/models/model.gguf'),
});
export const ScanResponse = z.object({
  models: z.number().int(),
  /** Files that cannot be used, and unreadable folders. */
  problems: z.array(ModelProblem),
});
export const ModelRemoved = z.object({ removed: z.string(), files: z.number().int() });

export type V1ModelRecord = z.infer<typeof V1Model>;
export type ModelRecordView = z.infer<typeof RegistryView>;
export type ModelWithMemory = z.infer<typeof ModelView>;
export type ModelProblemView = z.infer<typeof ModelProblem>;
export type ModelPutBody = z.infer<typeof ModelPut>;
export type NameView = z.infer<typeof ModelName>;
export type AgentView = z.infer<typeof AgentResponse>;
export type AgentPutBody = z.infer<typeof AgentPut>;
