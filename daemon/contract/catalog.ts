import { z } from 'zod';
import { SlotType } from './slots.ts';

/**
 * Whether a model could be loaded now: with its usual context, with a smaller context, after unloading slots,
 * or not. `unknown` for models that other programs load.
 */
export const FitBadge = z.enum(['fits', 'fits_with_context', 'needs_eviction', 'does_not_fit', 'unknown']);
/** Tokens per second of one request, as a range. */
export const ModelSpeed = z.object({
  low: z.number(),
  high: z.number(),
  /** Whether `svcctl bench` measured it; else it is estimated from the memory bandwidth. */
  measured: z.boolean(),
});
export const ModelFit = z.object({
  badge: FitBadge,
  /** The window in tokens that it would run with; null for models without one. */
  context: z.number().int().nullable(),
  /** Slots that would have to leave. */
  evicts: z.array(z.string()),
  /**
   * Bytes that it needs; bytes available for one more model (without reserve and `slots.memory_limit`); and
   * the memory pool (`host`, or the id of a GPU). Null when unknown.
   */
  needed: z.number().nullable(),
  free: z.number().nullable(),
  pool: z.string().nullable(),
  /**
   * With this engine, the experts of so many layers would stay on the CPU and the rest would run on a card that cannot
   * hold the whole model. Null for any other model.
   */
  cpu_experts: z
    .object({ engine: z.string(), layers: z.number().int(), of: z.number().int(), bytes: z.number() })
    .nullable(),
  /** How fast it would generate there; absent when it is not a chat model or the speed is not known. */
  speed: ModelSpeed.optional(),
});

export const Purpose = z.enum([
  'chat',
  'coding',
  'vision',
  'small',
  'embedding',
  'rerank',
  'hearing',
  'speaking',
  'images',
]);
/** Memory that holds a model: gigabytes of a card, `cpu` without one, `unified`, or `any`. */
export const MemoryClass = z.enum([
  'any',
  'cpu',
  '4',
  '8',
  '12',
  '16',
  '24',
  '32',
  '48',
  '64',
  '96',
  '128',
  'unified',
]);
/** A fact of an entry that was not verified when the list was written. */
export const UnverifiedFact = z.enum([
  'size',
  'licence',
  'context',
  'memory',
  'architecture',
  'projector',
  'thinking',
  'speed',
  'files',
  'engine',
]);

const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\u0000-\u001f\u007f]+$/, 'must not contain control characters');
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Total weights, and those that one token uses, in billions. */
export const ModelParameters = z.object({
  total_b: z.number().positive().max(100_000),
  active_b: z.number().positive().max(100_000),
});
/** The projector that lets a model read images. Null: not known. */
export const VisionFile = z.object({ file: text(256).nullable(), size_bytes: count.nullable() });

/** Facts of a model that the list states; all bytes are those of the chosen file. */
const ENTRY_FACTS = {
  purpose: Purpose,
  memory: z.array(MemoryClass).min(1).max(13),
  name: text(80),
  note: text(200),
  licence: text(80),
  parameters: ModelParameters.nullable(),
  architecture: text(64).nullable(),
  vision: VisionFile.nullable(),
  /** The model that drafts tokens for it; `in the file` for its own layers. */
  draft: text(256).nullable(),
  /** Whether it reasons before it answers: by default, on request, always, never. */
  thinking: z.enum(['on', 'off', 'always', 'none']).nullable(),
  /** The engine that it needs at least; `embedded` needs nothing to install. */
  engine: text(32),
  /** Further files that its engine needs. */
  files: z.array(z.object({ file: text(256), size_bytes: count })).max(16),
  unverified: z.array(UnverifiedFact).max(16),
};

/** One model of a catalogue file (docs/spec/contract.md#catalogue). */
export const CatalogFileEntry = z.strictObject({
  ...ENTRY_FACTS,
  /** `owner/name`, `owner/name:FILE` or `owner/name:QUANTISATION`. */
  model: text(512),
  size_bytes: count,
  context: count.nullable(),
  /** What its context takes (`docs/spec/contract.md#admission`); null when unknown or when it has none. */
  context_memory: z
    .strictObject({
      full_bytes_per_token: count,
      sliding_bytes_per_token: count,
      sliding_window: count,
      state_bytes_per_sequence: count,
      embedding: count,
      vocabulary: count,
    })
    .nullable(),
  /** Bytes of the weights that a card holds, where tables stay on the host. */
  card_bytes: count.nullable(),
  /** Bytes of the experts of a mixture of experts, over this many layers. */
  experts: z.strictObject({ bytes: count, layers: z.number().int().min(1).max(1000) }).nullable(),
});

const Models = z.array(text(512)).max(64);
/** A catalogue file: the shipped one, or a newer one that the owner loads. */
export const CatalogFile = z
  .strictObject({
    version: z.literal(1),
    /** The day on which the list was written. */
    as_of: z.iso.date(),
    /** A small model that is usable within a minute. */
    quick_start: text(512),
    /** The models that setup chooses from, best first. */
    preferred: z.strictObject({
      chat: Models,
      small: Models,
      embedding: Models,
      rerank: Models,
      hearing: Models,
      speaking: Models,
    }),
    entries: z.array(CatalogFileEntry).min(1).max(500),
    /** Repositories that no engine here can load. */
    refused: z.array(z.strictObject({ repo: text(256), reason: text(200) })).max(100),
  })
  .superRefine(({ entries, preferred, quick_start }, context) => {
    const names = entries.map(({ model }) => model);
    if (new Set(names).size !== names.length) context.addIssue('lists a model twice');
    for (const model of [quick_start, ...Object.values(preferred).flat()])
      if (!names.includes(model)) context.addIssue(`has no entry for ${model}`);
  });

export const CatalogEntry = z.object({
  ...ENTRY_FACTS,
  /** Value for `POST /api/models/pull`. For `images`, the file for the folder of the program that serves it. */
  model: z.string(),
  type: SlotType,
  /** Whether the gateway can download it. */
  pullable: z.boolean(),
  /** Why no engine of this gateway can load it; null when one can. */
  objection: z.string().nullable(),
  /** Size in bytes: of the list, or the exact one of the hub after a download was requested. */
  size_bytes: z.number().int(),
  context_length: z.number().int().nullable(),
  fit: ModelFit,
  /** Id of the registered model that was pulled from the same repository; null without one. */
  installed: z.string().nullable(),
  /** Whether it is the small model for a first try. */
  quick_start: z.boolean(),
});
export const CatalogResponse = z.object({
  /** The day on which the list was written by hand. It is not updated automatically. */
  as_of: z.string(),
  /** Whether the owner loaded this list; otherwise it came with the gateway. */
  updated: z.boolean(),
  entries: z.array(CatalogEntry),
});
/** A newer list: its text, or the address of one, and the SHA-256 of its bytes. */
export const CatalogUpdate = z
  .strictObject({
    text: z
      .string()
      .max(1 << 20)
      .optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .optional(),
    sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits'),
  })
  .refine(({ text, url }) => (text === undefined) !== (url === undefined), 'needs either text or url');

export type ModelFitView = z.infer<typeof ModelFit>;
export type PurposeName = z.infer<typeof Purpose>;
export type CatalogView = z.infer<typeof CatalogResponse>;
export type CatalogFileView = z.infer<typeof CatalogFile>;
export type CatalogFileEntryView = z.infer<typeof CatalogFileEntry>;
export type CatalogUpdateBody = z.infer<typeof CatalogUpdate>;
export type ModelSpeedView = z.infer<typeof ModelSpeed>;
