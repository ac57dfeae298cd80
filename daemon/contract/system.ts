import { z } from 'zod';
import { ADDRESS_CLASSES } from './caller-info.ts';
import { ConversationState, SlotConversations } from './conversation-state.ts';
import { LoadForecast } from './slots.ts';
import { SpeculationView } from './speculation.ts';

export const HealthResponse = z.object({ status: z.literal('ok'), name: z.string(), version: z.string() });
export const HealthCheck = z.object({ status: z.enum(['ok', 'warning', 'failed']), message: z.string() });
export const SystemHealthResponse = z.object({
  status: z.enum(['ok', 'degraded']),
  checks: z.record(z.string(), HealthCheck),
});
export const UrlsResponse = z.object({
  api: z.string(),
  dashboard: z.string(),
  companion: z.string().nullable(),
  companion_enabled: z.boolean(),
});
export const StatusOverview = z.object({
  name: z.string(),
  version: z.string(),
  host: z.string(),
  /** Unix milliseconds. */
  started_at: z.number(),
  listener: z.object({ bind_host: z.string(), port: z.number().int(), loopback: z.boolean() }),
  enforcement: z.object({ require_auth: z.boolean(), source: z.enum(['env', 'file', 'default']) }),
  has_admin_key: z.boolean(),
  has_client_key: z.boolean(),
  /** `[security].guard_remote_admin`: with an admin key set, callers from other machines need it for admin routes although no key is required. */
  guard_remote_admin: z.boolean(),
  slots: z.object({ total: z.number().int(), ready: z.number().int(), error: z.number().int() }),
  /** Sentences that need attention, each with what to do. */
  warnings: z.array(z.object({ id: z.string(), message: z.string() })),
});
export const SettingView = z.object({
  name: z.string(),
  env: z.string().nullable(),
  toml: z.string().nullable(),
  /** Effective value; null for a secret or an unset value. */
  value: z.unknown(),
  source: z.enum(['env', 'file', 'default']),
  default: z.unknown(),
  /** The persisted value when it differs from the effective one. */
  persisted: z.unknown().optional(),
  secret: z.boolean(),
  /** True for a secret that is set. */
  set: z.boolean(),
  live: z.boolean(),
  /** Unit of a number. A change may be a text with a prefix, such as "4 GB". */
  unit: z.enum(['bytes']).optional(),
  /** The value of the running gateway until its next start, when it differs. */
  running: z.unknown().optional(),
  help: z.string(),
  problem: z.string().optional(),
});
export const SettingsResponse = z.object({
  /** Path of the file with the keys, so that the dashboard can explain how to read them on the machine. */
  env_file: z.string().optional(),
  settings: z.array(SettingView),
  /** Revision of config.toml for these values, for `If-Match` of a change. */
  revision: z.string(),
  problems: z.array(z.object({ file: z.string(), line: z.number().int().nullable(), message: z.string() })),
});
export const SettingsPut = z.strictObject({ values: z.record(z.string(), z.unknown()) });
/** The new value of a secret variable. It is never returned. */
export const SecretPut = z.strictObject({
  value: z
    .string()
    .trim()
    .min(1, 'must not be blank')
    .max(4096)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
});
export const SecretResponse = z.object({
  name: z.string(),
  set: z.literal(true),
  /** First 8 hex characters of the SHA-256 of the value. */
  fingerprint: z.string(),
});
export type SecretView = z.infer<typeof SecretResponse>;
export const AuditEntry = z.object({
  id: z.number().int(),
  at: z.string(),
  action: z.string(),
  tier: z.string().nullable(),
  address: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
});
export const AuditResponse = z.object({ entries: z.array(AuditEntry) });
export const RequestView = z.object({
  id: z.string(),
  at: z.string(),
  route: z.string(),
  /** The model as the caller named it, even when it is unknown; null when none was named. */
  asked: z.string().nullable(),
  /** The id that it was resolved to; null when it was not. */
  model: z.string().nullable(),
  slot: z.string().nullable(),
  upstream: z.string().nullable(),
  step: z.string().nullable(),
  tier: z.string(),
  state: z.enum(['running', 'done']),
  status: z.number().int().nullable(),
  duration_ms: z.number().nullable(),
  ttft_ms: z.number().nullable(),
  prompt_tokens: z.number().int().nullable(),
  completion_tokens: z.number().int().nullable(),
  error: z.string().nullable(),
  /** The beginning of the error message that the caller received; null without an error. */
  message: z.string().nullable(),
  /** The reason in the details of the error, such as the last words of an engine. */
  reason: z.string().nullable(),
  /** The name that the app gave itself (`X-Title`), and its `User-Agent`. */
  app: z.string().nullable(),
  user_agent: z.string().nullable(),
  /** Where the caller is; null when that is unknown. */
  address: z.enum(ADDRESS_CLASSES).nullable(),
});
export const ExplainStep = z.object({
  step: z.string(),
  outcome: z.enum(['matched', 'skipped', 'failed']),
  reason: z.string(),
});
/** What happened to one request, as recorded at the time. Times are milliseconds. */
export const RequestTrace = z.object({
  /** The rule that changed the name before dispatch; null when it was unchanged. */
  rule: z.string().nullable(),
  /** The slot that the caller addressed. */
  lane: z.string().nullable(),
  /** The dispatch steps; empty when the request was refused before. */
  steps: z.array(ExplainStep),
  /** Earlier targets, and the error code that caused the failover. */
  before: z.array(
    z.object({ slot: z.string().nullable(), upstream: z.string().nullable(), error: z.string().nullable() }),
  ),
  /** What it waited for before its lease; null without one. */
  waits: z.object({ memory_ms: z.number(), load_ms: z.number(), queue_ms: z.number() }).nullable(),
  /** The overhead of the gateway before the request was sent to the engine; null when it was not sent. */
  overhead_ms: z.number().nullable(),
  /** Why its target runs degraded, else null. */
  degraded: z.string().nullable(),
  /**
   * Whether the engine restored the beginning of the conversation or computed it again. Null for other requests than
   * those to chat slots, where the engine does not report it, and for a request of an earlier version.
   */
  conversation: ConversationState.nullable(),
});
export const RequestDetail = RequestView.extend({
  /** Null for a request of an earlier version of the gateway. */
  story: RequestTrace.nullable(),
});
/** The beginnings of both texts; null for one that is missing or is not readable text. */
export const RequestBodies = z.object({ request: z.string().nullable(), answer: z.string().nullable() });
/** One request as an admin sees it. */
export const RequestResponse = RequestDetail.extend({
  /** Null unless `observability.capture_bodies` was on at the time, or after a hundred newer requests. */
  bodies: RequestBodies.nullable(),
});
export const RequestsResponse = z.object({
  running: z.array(RequestView),
  recent: z.array(RequestView),
  /**
   * Requests that were refused before a model route: no valid key, a foreign Origin or Host, too many logins. Newest
   * first, the last ones since the start only.
   */
  refused: z.array(RequestView),
});
/** Usage of one model by one tier on one day (UTC); `model` is empty when no request of the row was served. */
export const UsageDay = z.object({
  day: z.string(),
  tier: z.string(),
  model: z.string(),
  requests: z.number().int(),
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  /** Requests whose token counts are unknown. With one or more, the sums of tokens are minimums. */
  uncounted: z.number().int(),
});
export const UsageResponse = z.object({
  /** First day (UTC) that is counted. */
  since: z.string(),
  /** Newest day first. */
  days: z.array(UsageDay),
  /** Whether older rows were omitted. */
  truncated: z.boolean(),
});
/** One minute of the last hour. */
export const UsageMinute = z.object({
  /** Unix milliseconds of its begin. */
  at: z.number(),
  /** Requests that ended in it, and how many of them failed and were refused (`requestOutcome`). */
  requests: z.number().int(),
  failed: z.number().int(),
  refused: z.number().int(),
  completion_tokens: z.number().int(),
  /** Median time to the first byte in milliseconds; null when nothing was served. */
  ttft_ms: z.number().nullable(),
});
/** Oldest first, a row for each minute since the gateway started, at most an hour; the last one is running. */
export const UsageMinutesResponse = z.object({ minutes: z.array(UsageMinute) });
export const ExplainRequest = z.object({
  path: z.string(),
  model: z.string().optional(),
  body: z.record(z.string(), z.unknown()).optional(),
  /** Explains a request with `x-svc-allow-fallback: 1` (true) or `0` (false). Default: as `fallbacks.enabled`. */
  allow_fallback: z.boolean().optional(),
});
const ExplainError = z.object({
  code: z.string(),
  message: z.string(),
  /** As in the real error: similar names for a mistyped model, the reason of a failed slot. */
  details: z.record(z.string(), z.unknown()).optional(),
});
/** What another svc-gateway would do with a request. */
export const RemoteExplain = z.object({
  slot: z.string().nullable(),
  upstream: z.string().nullable(),
  would_load: z.boolean(),
  queue_position: z.number().int(),
  error: ExplainError.nullable(),
});
export const ExplainResponse = z.object({
  path: z.string(),
  model: z.string().nullable(),
  /** The alias or preset of config.toml that the model is, and what it stands for; null for any other name. */
  alias: z.object({ kind: z.enum(['alias', 'preset']), name: z.string(), target: z.string() }).nullable(),
  steps: z.array(ExplainStep),
  slot: z.string().nullable(),
  upstream: z.string().nullable(),
  lane: z.string().nullable(),
  /** The other slot whose engine serves the slot, because both have the same model and settings. */
  shares_engine_of: z.string().optional(),
  would_load: z.boolean(),
  /** The built-in chat template of the target's model; null when its file has one, or for an upstream. */
  chat_template: z.string().nullable(),
  queue_position: z.number().int(),
  /** Whether the slot predicts tokens, or would; null for another target. */
  speculation: SpeculationView.nullable(),
  /** Whether the slot saves its conversations, and how many of its model are saved now; null for another target. */
  conversations: SlotConversations.extend({ saved: z.int() }).nullable(),
  /** Requests that the slot finishes although their callers have left, because its engine cannot stop. */
  abandoned: z.number().int(),
  /** What the load would do to other slots, and the memory sum; null when nothing would be loaded. */
  load: LoadForecast.nullable(),
  /**
   * The upstreams of the same rank, and what decided between them (`x-svc-balance`); null when there is no other.
   */
  balance: z
    .object({
      rule: z.enum(['loaded', 'prefix', 'active', 'turn']),
      upstreams: z.array(
        z.object({
          name: z.string(),
          /** Active requests, those of other callers included as far as it reports them. */
          active: z.number(),
          weight: z.number(),
          /** Whether it has the model loaded; null when it does not report that. */
          loaded: z.boolean().nullable(),
        }),
      ),
    })
    .nullable(),
  /**
   * Targets that are tried after it, in order: the rest of a virtual name's chain, or other upstreams with
   * the same id.
   */
  after: z.array(
    z.object({
      slot: z.string().nullable(),
      upstream: z.string().nullable(),
      load: LoadForecast.nullable(),
      error: ExplainError.nullable(),
    }),
  ),
  /** Upstreams with the same id that are not tried, and why. */
  skipped: z.array(z.object({ upstream: z.string(), reason: z.string() })),
  /**
   * When the next one of them is tried. `connection_failed`: before any byte of the request was sent. `busy`: 429
   * or 503. `not_responding`: it was declared down before a byte of an answer came. After every other failure the
   * caller gets it.
   */
  failover: z.array(z.enum(['no_memory', 'slot_failed', 'connection_failed', 'busy', 'not_responding'])),
  /**
   * What the svc-gateway behind the upstream would do, or why that is not known. Null for every other target, and for
   * a question from another gateway.
   */
  beyond: z.object({ answer: RemoteExplain.nullable(), failure: z.string().nullable() }).nullable(),
  /** The models of `[fallbacks]` for this request; null when it has none. */
  fallback: z
    .object({
      /**
       * Why none of them is used. `not_allowed`: neither the setting nor the header permits it. `route`: answers of
       * this route depend on the model, such as vectors. Null when they are used.
       */
      off: z.enum(['not_allowed', 'route']).nullable(),
      /** The one that would serve the request now, because the requested model cannot; null when that one can. */
      used: z.string().nullable(),
      /** In the order in which they are tried. */
      models: z.array(
        z.object({
          model: z.string(),
          slot: z.string().nullable(),
          upstream: z.string().nullable(),
          load: LoadForecast.nullable(),
          /** Why it would not serve the request now; null when it would. */
          error: ExplainError.nullable(),
        }),
      ),
    })
    .nullable(),
  /** The error that the caller would get; null when one of the targets or fallbacks would serve it. */
  error: ExplainError.nullable(),
});
/** A non-blank text. It is stored as sent, including surrounding spaces. */
export const MemoryAdd = z.object({
  text: z.string().min(1).max(65_536).regex(/\S/, 'must not be blank'),
  tags: z.array(z.string()).max(32).nullish(),
});
export const MemorySearch = z.object({
  query: z.string().min(1).max(4096),
  limit: z.number().int().min(1).max(100).nullish(),
});
export const MemoryDelete = z.object({ ids: z.array(z.string()).min(1).max(1000) });
export const MemoryView = z.object({
  id: z.string(),
  text: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
  score: z.number().optional(),
});
export const MemoryListResponse = z.object({ memories: z.array(MemoryView) });
/**
 * `hybrid`: full text and embeddings; `words`: no embedding model responded in time. Scores are comparable
 * within one response only.
 */
export const MemorySearchResponse = z.object({
  mode: z.enum(['hybrid', 'words']),
  memories: z.array(MemoryView),
});
export const DeletedResponse = z.object({ deleted: z.number().int() });

export type StatusOverviewView = z.infer<typeof StatusOverview>;
export type SystemHealthView = z.infer<typeof SystemHealthResponse>;
export type SettingRow = z.infer<typeof SettingView>;
export type AuditRow = z.infer<typeof AuditEntry>;
export type RequestsView = z.infer<typeof RequestsResponse>;
export type RequestRecord = z.infer<typeof RequestView>;
export type RequestTraceView = z.infer<typeof RequestTrace>;
export type RequestDetailView = z.infer<typeof RequestDetail>;
export type RequestBodiesView = z.infer<typeof RequestBodies>;
export type RequestWholeView = z.infer<typeof RequestResponse>;
export type ExplainStepView = z.infer<typeof ExplainStep>;
export type UsageView = z.infer<typeof UsageResponse>;
export type MinuteRow = z.infer<typeof UsageMinute>;
export type ExplainView = z.infer<typeof ExplainResponse>;
export type MemoryRecord = z.infer<typeof MemoryView>;
export type MemoryFound = z.infer<typeof MemorySearchResponse>;
