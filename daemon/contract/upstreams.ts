import { z } from 'zod';
import { plainText } from './plain-text.ts';
import { UPSTREAM_KINDS } from './upstream-kinds.ts';

/**
 * `unknown`: not contacted yet. `ok`: the last call or list succeeded. `busy`: it reported so recently.
 * `failing`: the last call failed. `down`: it failed too often and is paused. `auth_failed`: it refused the
 * key, or the key is not set. `loop`: it is this gateway itself. `disabled`: disabled in its file.
 */
export const UPSTREAM_HEALTH = [
  'unknown',
  'ok',
  'busy',
  'failing',
  'down',
  'auth_failed',
  'loop',
  'disabled',
] as const;

/** Health in which calls are not expected to fail. */
export const USABLE_HEALTH: ReadonlySet<UpstreamHealth> = new Set(['unknown', 'ok', 'busy']);

export const UpstreamName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'must contain only a-z, 0-9, - and _, at most 32 characters')
  .refine((name) => name !== 'svc', 'svc is reserved for the models of this gateway');

/** Headers that frame a message or have another owner. A key is never sent in one of them. */
const RESERVED_HEADERS =
  /^(host|connection|content-(length|type|encoding)|transfer-encoding|te|trailer|upgrade|expect|accept(-.*)?|cookie|origin|referer|keep-alive|proxy-.*|x-svc-.*|x-request-id)$/i;

const pattern = plainText().min(1).max(256);

/** The keys of `upstreams/NAME.toml` and of the bodies that change one. */
export const UPSTREAM_FIELDS = {
  enabled: z.boolean(),
  /** The base URL of OpenAI clients. Without a path, `/v1` is used. */
  base_url: plainText().min(1).max(1024),
  kind: z.enum(UPSTREAM_KINDS),
  /** Name of the variable with the key; never the key itself. */
  key_env: z
    .string()
    .regex(/^UPSTREAM_[A-Z0-9_]{1,64}$/, 'must be the name of a variable such as UPSTREAM_DESK_KEY'),
  /** Header that carries the bare key; absent = `Authorization: Bearer`. */
  header: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the name of a header')
    .refine((name) => !RESERVED_HEADERS.test(name), 'is a reserved header'),
  /** Whether it is a provider; by default derived from the host. */
  remote: z.boolean(),
  /** Lower values are preferred. */
  priority: z.number().int().min(-1000).max(1000),
  /** Its share of the requests among upstreams of the same priority. */
  weight: z.number().min(0.01).max(1000),
  /**
   * Whether a remote upstream is used only after every upstream of the own network, regardless of priorities.
   */
  local_first: z.boolean(),
  /** Most requests per day (UTC). */
  daily_requests: z.number().int().min(1).max(100_000_000),
  /** Patterns (`*` = anything) that a model id must match, and must not. */
  include: z.array(pattern).max(64),
  exclude: z.array(pattern).max(64),
  /** A fixed list that replaces the upstream's own. */
  models: z.array(pattern).min(1).max(1000),
  /** Whether token counts of streams are requested with `stream_options`; false for a server that refuses it. */
  stream_usage: z.boolean(),
  /** Whether it receives the name of the calling app in `X-Title`. */
  send_app_name: z.boolean(),
  /** Whether it is probed while requests wait; false for a server that answers one request at a time. */
  hang_probe: z.boolean(),
  connect_timeout_s: z.number().min(0.1).max(600),
  idle_timeout_s: z.number().min(1).max(86_400),
} as const;
export type UpstreamField = keyof typeof UPSTREAM_FIELDS;

const { base_url, ...others } = UPSTREAM_FIELDS;
const optional = z.object(others).partial().shape;

export const UpstreamCreate = z.strictObject({ name: UpstreamName, base_url, ...optional });
/** Absent = unchanged, null = back to the default. A new `base_url` clears a `key_env` that is not named with it. */
export const UpstreamPut = z.strictObject({
  base_url: base_url.optional(),
  ...(Object.fromEntries(
    Object.entries(optional).map(([name, schema]) => [name, schema.nullable()]),
  ) as unknown as {
    [K in keyof typeof optional]: z.ZodNullable<(typeof optional)[K]>;
  }),
});
export const UpstreamTestRequest = z.strictObject({ model: z.string().min(1).max(512).optional() });

export const UpstreamView = z.object({
  name: z.string(),
  enabled: z.boolean(),
  kind: z.enum(UPSTREAM_KINDS),
  remote: z.boolean(),
  priority: z.number().int(),
  health: z.enum(UPSTREAM_HEALTH),
  /** How many models it is known to serve. */
  models: z.number().int(),
  /** Unix milliseconds of the list that is known; null before the first one. */
  listed_at: z.number().nullable(),
  /** The rest is for admins only. */
  base_url: z.string().optional(),
  key_env: z.string().nullable().optional(),
  /** Whether that variable has a value. */
  key_set: z.boolean().optional(),
  header: z.string().nullable().optional(),
  weight: z.number().optional(),
  local_first: z.boolean().optional(),
  daily_requests: z.number().int().nullable().optional(),
  /** Requests of this day (UTC). */
  requests_today: z.number().int().optional(),
  include: z.array(z.string()).optional(),
  exclude: z.array(z.string()).optional(),
  stream_usage: z.boolean().optional(),
  send_app_name: z.boolean().optional(),
  hang_probe: z.boolean().optional(),
  connect_timeout_s: z.number().nullable().optional(),
  idle_timeout_s: z.number().nullable().optional(),
  /** Why it is not `ok`, in one sentence. */
  reason: z.string().nullable().optional(),
  /** Unix milliseconds at which a `down` one is tried again. */
  retry_at: z.number().nullable().optional(),
  /** Ids, in the view of a single upstream. */
  model_ids: z.array(z.string()).optional(),
  /** Of its file, for `If-Match` of a change, in the view of a single upstream. */
  revision: z.string().optional(),
});
export const UpstreamsResponse = z.object({ upstreams: z.array(UpstreamView) });

/**
 * One step of a test call: the model list; when a model was named, a chat of a few tokens and a stream with
 * `stream_options`.
 */
export const UpstreamTestStep = z.object({
  step: z.enum(['models', 'chat', 'stream']),
  ok: z.boolean(),
  /** Status of the upstream; null without a response. */
  status: z.number().int().nullable(),
  ms: z.number(),
  message: z.string(),
});
export const UpstreamTestResponse = z.object({
  ok: z.boolean(),
  steps: z.array(UpstreamTestStep),
  upstream: UpstreamView,
});

export const UpstreamRemoved = z.object({ removed: z.string() });

export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];
export type UpstreamHealth = (typeof UPSTREAM_HEALTH)[number];
export type UpstreamRecord = z.infer<typeof UpstreamView>;
export type UpstreamCreateBody = z.infer<typeof UpstreamCreate>;
export type UpstreamPutBody = z.infer<typeof UpstreamPut>;
export type UpstreamTestStepView = z.infer<typeof UpstreamTestStep>;
export type UpstreamTestView = z.infer<typeof UpstreamTestResponse>;
