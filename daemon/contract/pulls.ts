import { z } from 'zod';
import { ModelFit } from './catalog.ts';

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
  /** Why the last try failed; null without a failure since the last byte. */
  retry_reason: z.string().nullable(),
  /** Why the download failed, and what to do next. */
  error: z.object({ code: z.string(), message: z.string(), advice: z.string().nullable() }).nullable(),
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
    .regex(/^[^\u0000-\u001f\u007f]+$/, 'must not contain control characters');

/** The model to download: `owner/name`, `owner/name:QUANTISATION` or `owner/name:FILE`. */
export const PullRequest = z.strictObject({
  model: shortText(1024),
  /** Branch, tag or commit; default the main branch. */
  revision: shortText(200).optional(),
  /** Also download the projector for images, if the repository has one. */
  projector: z.boolean().optional(),
  /** Download a model that no engine of this gateway can load. */
  allow_unsupported: z.boolean().optional(),
});

/** One GGUF model of a repository: a quantisation. */
export const HubChoice = z.object({
  /** Value for `POST /api/models/pull`. */
  model: z.string(),
  file: z.string(),
  /** Its quantisation by the name of the file; null when that has none. */
  quantization: z.string().nullable(),
  size_bytes: z.number(),
  /** Number of files. */
  parts: z.number().int(),
  fit: ModelFit,
  /** Whether it is the one that a download without a file chooses. */
  preferred: z.boolean(),
});
/** The models of one repository. */
export const HubChoicesResponse = z.object({
  repo: z.string(),
  revision: z.string(),
  licence: z.string().nullable(),
  gated: z.boolean(),
  architecture: z.string().nullable(),
  context_length: z.number().nullable(),
  /** Name of the projector for images; null without one. */
  projector: z.string().nullable(),
  /** Why no engine of this gateway can load them; null when one can, or when it is unknown. */
  objection: z.string().nullable(),
  choices: z.array(HubChoice),
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
export type HubChoicesView = z.infer<typeof HubChoicesResponse>;
export type HubModelView = z.infer<typeof HubModel>;
