import { z } from 'zod';
import { ModelSpeed, Purpose } from './catalog.ts';
import { HardwareResponse } from './hardware.ts';
import { plainText } from './plain-text.ts';
import { PullView } from './pulls.ts';
import { SlotState } from './slots.ts';

/** The three steps of a fresh install, in their order. */
export const SETUP_STEPS = ['models', 'reach', 'key'] as const;
export const SetupStep = z.enum(SETUP_STEPS);
export const SetupStepState = z.enum(['open', 'done', 'skipped']);

/** One model of the recommended set, with the slot that it gets. */
export const SetupItem = z.object({
  slot: z.string(),
  purpose: Purpose,
  /** Its name in the catalogue, for `apply`. */
  model: z.string(),
  name: z.string(),
  note: z.string(),
  licence: z.string(),
  /** Bytes to fetch, as the catalogue remembers them. */
  size_bytes: z.number().int(),
  /** Window that it would run with, in tokens; null for models without one. */
  context: z.number().int().nullable(),
  /** Whether the context is smaller than usual, because of memory. */
  smaller_window: z.boolean(),
  /** Bytes of memory while loaded, and the pool (`host`, or the id of a GPU). */
  needed_bytes: z.number(),
  pool: z.string(),
  /** How fast it would generate; absent when that is not known. */
  speed: ModelSpeed.optional(),
  /** Id of the registered model, when it was fetched before. */
  installed: z.string().nullable(),
});

/** A purpose without a model in the set, and why. */
export const SetupLeftOut = z.object({
  purpose: Purpose,
  reason: z.enum(['memory', 'disk', 'has_model']),
});

/** Progress of one model of the set: requested, downloaded, loaded. */
export const SetupWorkPhase = z.enum(['asking', 'pulling', 'loading', 'ready', 'failed']);

export const SetupResponse = z.object({
  has_admin_key: z.boolean(),
  require_auth: z.boolean(),
  /** As in the status: with an admin key set, admin routes require it from other machines. */
  guard_remote_admin: z.boolean(),
  /** Where the gateway listens now. */
  bind_host: z.string(),
  real_model: z.boolean(),
  /** True while a new visitor should be sent to setup: it is not finished, and something is left to set up. */
  pending: z.boolean(),
  finished: z.boolean(),
  steps: z.array(z.object({ id: SetupStep, state: SetupStepState })),
  /** Null until the first probe has ended. */
  hardware: HardwareResponse.pick({ host: true, devices: true, pools: true }).nullable(),
  set: z
    .object({
      /** The day on which the catalogue was written. */
      as_of: z.string(),
      items: z.array(SetupItem),
      /** Chat models to choose from, the smallest first; the one of `items` is among them. Fewer where they are equal. */
      chat: z.array(z.object({ id: z.enum(['small', 'balanced', 'best']), item: SetupItem })),
      /** A small model that is usable within a minute: a first try, not a recommendation. Null while agent has one. */
      quick_start: SetupItem.nullable(),
      left_out: z.array(SetupLeftOut),
      download_bytes: z.number(),
      disk_free_bytes: z.number().nullable(),
      /** Bytes that are reserved for other data on the disk. */
      disk_kept_bytes: z.number(),
    })
    .nullable(),
  work: z.array(
    z.object({
      slot: z.string(),
      model: z.string(),
      name: z.string(),
      phase: SetupWorkPhase,
      pull: PullView.nullable(),
      /** State of the slot and progress of its load (0 to 1), if the engine reports it. */
      slot_state: SlotState.nullable(),
      progress: z.number().nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
  /** Folders of other programs that hold models, or may hold some. */
  folders: z.array(
    z.object({
      tool: z.string(),
      path: z.string(),
      /** `hidden`: the gateway cannot see whether it exists. */
      state: z.enum(['readable', 'used', 'unreadable', 'hidden']),
      /** Number of models, counted up to a limit; null when the folder was not read. */
      models: z.number().int().nullable(),
    }),
  ),
  /** A systemd drop-in that makes the unreadable folders readable; null when there are none. */
  drop_in: z.object({ command: z.string(), text: z.string() }).nullable(),
  reach: z.object({
    /** What the next start will listen on: this machine only, every IPv4 address, or one other address. */
    choice: z.enum(['machine', 'network', 'other']),
    next_bind_host: z.string(),
    restart_needed: z.boolean(),
    /** What overrides the choice; null when nothing does. */
    held_by: z.enum(['environment', 'socket']).nullable(),
    /** Addresses of this machine in its own networks, for other devices. */
    addresses: z.array(z.string()),
    port: z.number().int(),
    /** This machine has an address on the internet and no key is required: the network is refused. */
    public: z.boolean(),
  }),
});

/** Changes of one setup step. Keys and enforcement have separate routes, which are never bootstrap. */
export const SetupApply = z
  .strictObject({
    /** Names of the catalogue to fetch and to load, each into one of the slots that setup fills. */
    models: z
      .array(z.strictObject({ slot: plainText().max(32), model: plainText().min(1).max(256) }))
      .min(1)
      .max(16)
      .optional(),
    /** Folders that `GET /api/setup` offers, to be scanned from now on. */
    folders: z.array(plainText().min(1).max(4096)).min(1).max(16).optional(),
    reach: z.enum(['machine', 'network']).optional(),
    steps: z.partialRecord(SetupStep, SetupStepState).optional(),
    finished: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must name what is to be applied');

export type SetupStepName = z.infer<typeof SetupStep>;
export type SetupStepStateName = z.infer<typeof SetupStepState>;
export type SetupItemView = z.infer<typeof SetupItem>;
export type SetupLeftOutView = z.infer<typeof SetupLeftOut>;
export type SetupView = z.infer<typeof SetupResponse>;
export type SetupApplyBody = z.infer<typeof SetupApply>;
export type SetupChoiceView = NonNullable<SetupView['set']>['chat'][number];
