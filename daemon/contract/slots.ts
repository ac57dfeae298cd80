import { z } from 'zod';
import { SlotConversations } from './conversation-state.ts';
import { plainText } from './plain-text.ts';
import { SpeculationView } from './speculation.ts';
import { WORKFLOW_FILE_NAME, WORKFLOW_INPUTS, WORKFLOW_TARGET } from './workflow.ts';

/** States of a slot (docs/spec/contract.md#slot-states). A parked slot is `error` with `parked: true`. */
export const SLOT_STATES = [
  'offline',
  'pulling',
  'starting',
  'warming',
  'ready',
  'serving',
  'draining',
  'stopping',
  'error',
] as const;
export const SlotState = z.enum(SLOT_STATES);
export const SlotType = z.enum(['llm', 'embedding', 'rerank', 'stt', 'tts', 'image']);
export const SlotName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'must contain only a-z, 0-9, - and _, at most 32 characters');
/** Error for an invalid duration in a slot file. */
export const DURATION_FORM = 'must be seconds or a text like "15 min"';

/** Where a need of memory comes from: key `memory` of the slot file, a measurement on this machine, or an estimate. */
export const NeedSource = z.enum(['file', 'measured', 'estimated']);

export const SlotView = z.object({
  name: SlotName,
  enabled: z.boolean(),
  /** Made by the gateway for a model that no slot file names. */
  auto: z.boolean(),
  type: SlotType,
  engine: z.string(),
  runner: z.string(),
  /** The model id that clients use; null while the slot has no model. */
  model: z.string().nullable(),
  /** What its file names while no such model is registered; only the last part of a path. */
  model_missing: z.string().optional(),
  /** True while the slot serves the built-in demonstration model. */
  demo: z.boolean(),
  state: SlotState,
  /** Unix milliseconds of the last state change. */
  since: z.number(),
  /** Completed share of a load, 0 to 1; absent while nothing loads or the engine does not report it. */
  progress: z.number().optional(),
  /** The backend in use once loaded (`cpu`, `vulkan`, `cuda`); null before. */
  device: z.string().nullable(),
  /** Why the slot runs degraded (CPU fallback and the like), else null. */
  degraded: z.string().nullable(),
  /** Window per sequence in tokens, once loaded. */
  context: z.number().int().nullable(),
  parallel: z.number().int(),
  threads: z.number().int().nullable(),
  pid: z.number().int().nullable(),
  active: z.number().int(),
  /**
   * How many of the active requests the engine finishes although their callers have left, because it cannot stop;
   * absent for none. New requests wait until then.
   */
  abandoned: z.number().int().optional(),
  queued: z.number().int(),
  requests: z.number().int(),
  /** Tokens per second of the last response. */
  tokens_per_second: z.number().nullable(),
  /** Resident memory of the engine in bytes; null for the engine of another slot. */
  memory_bytes: z.number().int().nullable(),
  /** Whether its model accepts images. */
  vision: z.literal(true).optional(),
  /** Whether it predicts tokens, or would; absent where the engine decides. */
  speculation: SpeculationView.optional(),
  /** Whether its conversations are saved when it is unloaded; absent for slots without conversations. */
  conversations: SlotConversations.optional(),
  /** Keys of the slot file that changed since the engine was started, and apply at its next start. */
  pending: z.array(z.string()).optional(),
  /** Never unloaded for another slot. */
  pinned: z.boolean(),
  /**
   * Slots whose memory a load of this one waits for. Contains its own name while a removed slot of this name
   * still responds. The state stays `offline` or `error` meanwhile.
   */
  waiting_for: z.array(z.string()),
  /**
   * Present while slots with the same model file and equal settings use one engine. State, queue, requests and failure are
   * then those of the engine.
   */
  shared_engine: z
    .object({
      /** The slot that loaded it, whose record has its memory and whose log has its output; null while none runs. */
      slot: SlotName.nullable(),
      /** The other slots that share it. */
      with: z.array(SlotName),
      /** The slots for which it stays loaded; a slot that was unloaded is not among them. */
      used_by: z.array(SlotName),
    })
    .optional(),
  /** Memory reserved for the running engine; null when none runs, and for the engine of another slot. */
  memory: z
    .object({
      /** Id of the memory pool (`GET /api/hardware`). */
      pool: z.string(),
      needed_bytes: z.number(),
      source: NeedSource,
    })
    .nullable(),
  failure: z
    .object({
      reason: z.string(),
      failures: z.number().int(),
      parked: z.boolean(),
      /** Unix milliseconds of the next automatic try; null when parked. */
      retry_at: z.number().nullable(),
    })
    .nullable(),
});
export const SlotsResponse = z.object({ slots: z.array(SlotView) });

const word = plainText();

/**
 * Keys of a slot file that a request may set; null removes a key from the file. Programs, arguments,
 * environment, image and mounts can be set in the file only.
 */
export const SlotSettings = z.strictObject({
  enabled: z.boolean().nullish(),
  type: SlotType.nullish(),
  engine: word.max(32).nullish(),
  model: word.min(1).max(1024).regex(/^[^-]/, 'must not begin with a hyphen').nullish(),
  device: word.max(32).nullish(),
  context: z.number().int().nullish(),
  parallel: z.number().int().nullish(),
  autoload: z.boolean().nullish(),
  pinned: z.boolean().nullish(),
  priority: z.number().int().nullish(),
  /** Seconds, or a text like "15 min"; 0 = never by time. */
  idle_unload: z.union([z.number().int().min(0), word.max(32)], { error: DURATION_FORM }).nullish(),
  voice: z
    .strictObject({
      voice: word.max(256).nullish(),
      speed: z.number().nullish(),
      response_format: word.max(16).nullish(),
    })
    .nullish(),
  enable_thinking: z.boolean().nullish(),
});
export const SlotCreate = SlotSettings.extend({ name: SlotName });
export const SlotSwap = z.strictObject({
  model_id: word.min(1).max(1024),
  /** Whether the model is written into the slot file; default true. */
  persist: z.boolean().optional(),
});
const WorkflowTargets = z.array(z.string().regex(WORKFLOW_TARGET, 'must be NODE.input')).max(16);
/** A workflow of ComfyUI for a slot, with the inputs that take the settings of a request. */
export const SlotWorkflowBody = z.strictObject({
  /** The name of the file that is written beside the slot file. */
  file: z.string().regex(WORKFLOW_FILE_NAME, 'must be the name of a .json file'),
  /** The graph in the format of ComfyUI's API. */
  workflow: z.record(z.string(), z.unknown()),
  /** An empty list keeps the value of the file for every request. */
  inputs: z.partialRecord(z.enum(WORKFLOW_INPUTS), WorkflowTargets).default({}),
  /** Whether a file of this name may be replaced; default false. */
  replace: z.boolean().default(false),
});
/** Source of a slot setting; `swap` overrides the file until the next start, `model` is the model file. */
export const SlotSettingOrigin = z.enum(['file', 'default', 'automatic', 'swap', 'model']);
/** The current settings of a slot. A running engine may have been started with earlier ones. */
export const SlotSettingsResponse = z.object({
  slot: z.string(),
  /** Base name of its file; null for a slot without one. */
  file: z.string().nullable(),
  /** Revision of its file, or of the missing file, for `If-Match` of a change. */
  revision: z.string(),
  settings: z.array(
    z.object({
      /**
       * As in a slot file; `voice.speed` is a key of the table `voice`. `sampling.temperature` and others are the
       * defaults of requests that the model file recommends.
       */
      key: z.string(),
      /** Null where nothing is set and the engine or the model decides; of `env` the names alone; times in seconds. */
      value: z.unknown(),
      from: SlotSettingOrigin,
      /** Whether a request may set it. Other keys can be set in the file only. */
      editable: z.boolean(),
    }),
  ),
  /** Problems of the file. While it is broken its last good settings apply. */
  problems: z.array(z.object({ line: z.number().int().nullable(), message: z.string() })),
});
export const SlotRemoved = z.object({ ok: z.literal(true) });

/** Why a slot keeps its memory: it is pinned, is serving, is loading, or has just become ready. */
export const StayReason = z.enum(['pinned', 'serving', 'loading', 'turn']);

/** The whole sum of one admission, in bytes. */
export const MemorySum = z.object({
  /** The pool that is drawn from (`GET /api/hardware`). */
  pool: z.string(),
  needed: z.number(),
  /** Available in the pool now. */
  free: z.number(),
  /**
   * Reserved for loads in progress, and mapped weights of running slots, which the kernel counts as
   * available.
   */
  reserved: z.number(),
  kept_free: z.number(),
  /** Setting `slots.memory_limit`; null without one. */
  limit: z.number().nullable(),
  /** What slots hold in this pool; counted against the limit. */
  held: z.number(),
  /** 0 when it fits. */
  short: z.number(),
  /** In the order in which they would be unloaded. */
  victims: z.array(z.object({ slot: z.string(), bytes: z.number(), stays: StayReason.nullable() })),
});

/** What admission would do with a load at this moment. */
export const LoadForecast = z.object({
  /**
   * `starts` immediately, `evicts` idle slots first, `waits` for slots that are busy or stopping, or is
   * `refused`.
   */
  outcome: z.enum(['starts', 'evicts', 'waits', 'refused']),
  /** Slots that have to leave first. */
  evicts: z.array(z.string()),
  sum: MemorySum,
});

/** Source of a launch value. */
export const PlanSource = z.enum(['file', 'default', 'model', 'probe', 'setting', 'request', 'engine']);
export const SlotPlan = z.object({
  slot: z.string(),
  engine: z.string(),
  runner: z.string(),
  model: z.string(),
  /** The slot whose running engine would serve it, so that nothing is loaded; absent when it would load its own. */
  shares_engine_of: SlotName.optional(),
  /** The exact launch, key by key; of variables only the names. */
  launch: z.record(z.string(), z.object({ value: z.unknown(), from: PlanSource })),
  /** The parts of the sum in bytes. */
  need: z.object({
    weights: z.number(),
    window: z.number(),
    compute: z.number(),
    engine: z.number(),
    /** On the host, in addition to the total on the card. */
    host: z.number(),
    total: z.number(),
    source: NeedSource,
  }),
  forecast: LoadForecast,
});

export type SlotStateName = z.infer<typeof SlotState>;
export type SlotTypeName = z.infer<typeof SlotType>;
export type SlotRecord = z.infer<typeof SlotView>;
export type SlotSettingsBody = z.infer<typeof SlotSettings>;
export type SlotWorkflowSettings = z.infer<typeof SlotWorkflowBody>;
export type SlotSettingsView = z.infer<typeof SlotSettingsResponse>;
export type SlotSettingOriginName = z.infer<typeof SlotSettingOrigin>;
export type SlotPlanView = z.infer<typeof SlotPlan>;
export type MemorySumView = z.infer<typeof MemorySum>;
export type LoadForecastView = z.infer<typeof LoadForecast>;
export type StayReasonName = z.infer<typeof StayReason>;
export type PlanSourceName = z.infer<typeof PlanSource>;
