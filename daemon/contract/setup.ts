import { z } from 'zod';
import { Purpose } from './catalog.ts';
import { HardwareResponse } from './hardware.ts';
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
  /** Its name in the catalogue, which `apply` takes. */
  model: z.string(),
  name: z.string(),
  note: z.string(),
  licence: z.string(),
  /** Bytes to fetch, as the catalogue remembers them. */
  size_bytes: z.number().int(),
  /** Window that it would run with, in tokens; null for models without one. */
  context: z.number().int().nullable(),
  /** Whether that is a smaller window than usual, for want of memory. */
  smaller_window: z.boolean(),
  /** Bytes that it takes while loaded, and of which memory (`host`, or the id of a card). */
  needed_bytes: z.number(),
  pool: z.string(),
  /** Id of the registered model, when it was fetched before. */
  installed: z.string().nullable(),
});

/** A purpose that the set leaves out, and why. */
export const SetupLeftOut = z.object({
  purpose: Purpose,
  reason: z.enum(['memory', 'disk', 'has_model']),
});

/** What becomes of one model of the set: asked for, fetched, loaded. */
export const SetupWorkPhase = z.enum(['asking', 'pulling', 'loading', 'ready', 'failed']);

export const SetupResponse = z.object({
  has_admin_key: z.boolean(),
  require_auth: z.boolean(),
  /** As in the status: what needs an admin takes the key from other machines, once there is one. */
  guard_remote_admin: z.boolean(),
  /** Where the gateway listens now. */
  bind_host: z.string(),
  real_model: z.boolean(),
  /** True while a fresh visit should be led to setup: it was not ended, and there is still something to set up. */
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
      left_out: z.array(SetupLeftOut),
      download_bytes: z.number(),
      disk_free_bytes: z.number().nullable(),
      /** Left to everything else on the disk. */
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
      /** State of the slot, and how far its load is (0 to 1) where the engine tells. */
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
      /** `hidden`: the gateway cannot even see whether it is there. */
      state: z.enum(['readable', 'used', 'unreadable', 'hidden']),
      /** Models in it, counted up to a bound; null when it was not looked into. */
      models: z.number().int().nullable(),
    }),
  ),
  /** What lets a gateway that systemd runs read the unreadable ones; null when there are none. */
  drop_in: z.object({ command: z.string(), text: z.string() }).nullable(),
  reach: z.object({
    /** What the next start will listen on: this machine only, every IPv4 address, or an address of its own. */
    choice: z.enum(['machine', 'network', 'other']),
    next_bind_host: z.string(),
    restart_needed: z.boolean(),
    /** What stands above the choice, so that it counts for nothing; null when nothing does. */
    held_by: z.enum(['environment', 'socket']).nullable(),
    /** Addresses of this machine in its own networks, for other devices. */
    addresses: z.array(z.string()),
    port: z.number().int(),
    /** This machine has an address on the internet and no key is required: the network is refused. */
    public: z.boolean(),
  }),
});

/** What one step of the first run changes. Keys and enforcement have routes of their own, which are never bootstrap. */
export const SetupApply = z
  .strictObject({
    /** Names of the catalogue to fetch and to load, each into one of the slots that setup fills. */
    models: z
      .array(z.strictObject({ slot: z.string().max(32), model: z.string().min(1).max(256) }))
      .min(1)
      .max(16)
      .optional(),
    /** Folders that `GET /api/setup` offers, to be scanned from now on. */
    folders: z.array(z.string().min(1).max(4096)).min(1).max(16).optional(),
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
