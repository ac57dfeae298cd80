import { z } from 'zod';

export const PullState = z.enum(['queued', 'running', 'paused', 'verifying', 'done', 'failed', 'cancelled']);

/** One download, without local paths. */
export const PullView = z.object({
  id: z.string(),
  /** `owner/name` on the hub. */
  repo: z.string(),
  /** The commit that was pinned when the download was created. */
  revision: z.string(),
  /** The chosen file name, or the name of the model in a folder. */
  file: z.string(),
  /** Number of files. */
  files: z.number().int(),
  state: PullState,
  /** Bytes received, and in total. */
  bytes: z.number().int(),
  total: z.number().int(),
  /** Bytes per second over the last seconds; null while nothing arrives. */
  speed: z.number().nullable(),
  /** Seconds left at this speed. */
  eta_s: z.number().nullable(),
  /** Number of retries since the last byte. */
  retries: z.number().int(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** Id of the model once it is registered. */
  model: z.string().nullable(),
  licence: z.string().nullable(),
  /** Unix milliseconds. */
  created: z.number().int(),
  updated: z.number().int(),
});
export const PullsResponse = z.object({ pulls: z.array(PullView) });

const shortText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[^\0-\x1f\x7f]+$/, 'must not contain control characters');

/** The model to download: `owner/name`, `owner/name:QUANTISATION` or `owner/name:FILE`. */
export const PullRequest = z.strictObject({
  model: shortText(1024),
  /** Branch, tag or commit; default the main branch. */
  revision: shortText(200).optional(),
  /** Also download the projector for images, if the repository has one. */
  projector: z.boolean().optional(),
});

/** One repository of the hub. */
export const HubModel = z.object({
  repo: z.string(),
  downloads: z.number(),
  likes: z.number(),
  gated: z.boolean(),
  task: z.string().nullable(),
  licence: z.string().nullable(),
  updated: z.string().nullable(),
});
export const SearchResponse = z.object({ results: z.array(HubModel) });

export type PullRecord = z.infer<typeof PullView>;
export type PullStateName = z.infer<typeof PullState>;
export type PullBody = z.infer<typeof PullRequest>;
export type HubModelView = z.infer<typeof HubModel>;
