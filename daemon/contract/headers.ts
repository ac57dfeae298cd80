import { CONVERSATION_HEADER } from './conversation-reasons.ts';

/** One header of the API, for the documentation and for CORS. */
export interface HeaderRow {
  /** On which requests or responses it appears. */
  readonly on: string;
  readonly meaning: string;
  /** Whether a page of an allowed origin may read it (responses). Default true. */
  readonly exposed?: false;
}

/** Permits or forbids fallbacks for one request. */
export const ALLOW_FALLBACK_HEADER = 'x-svc-allow-fallback';
/** Values of it that permit them. Every other value forbids them. */
export const FALLBACK_ALLOWED: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on']);
/** Names the fallback that served a request. */
export const FALLBACK_HEADER = 'x-svc-fallback';

/** Rate limits in OpenAI's form, which upstreams report about the key of the gateway. */
export const RATE_LIMIT_HEADERS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
] as const;

/** Headers of responses that clients can rely on, in the order in which CORS exposes them. */
export const RESPONSE_HEADERS: Readonly<Record<string, HeaderRow>> = {
  'x-request-id': {
    on: 'every response',
    meaning: 'Id of the request in the log, in traces and in `svcctl requests show ID`.',
  },
  'x-svc-slot': { on: 'inference, served by a slot', meaning: 'Name of the slot that served the request.' },
  'x-svc-upstream': {
    on: 'inference, served by an upstream',
    meaning: 'Name of the upstream that served the request.',
  },
  'x-svc-balance': {
    on: 'inference, served by one of several equal upstreams',
    meaning:
      'What decided between them. `loaded`: it has the model loaded. `prefix`: it served the beginning of the conversation. `active`: it had the fewest active requests for its weight. `turn`: it had as few as others.',
  },
  [FALLBACK_HEADER]: {
    on: 'inference, served by a fallback',
    meaning:
      'Id of the model that served the request in place of the requested one. In a stream that had already begun, a comment `x-svc-fallback: ID`.',
  },
  'x-svc-model': {
    on: 'inference',
    meaning:
      "Id of the model that served the request. An id with other characters than ASCII is encoded: `UTF-8''` and percent encoding (RFC 8187).",
  },
  'x-svc-alias': {
    on: 'inference, requested by an alias or preset',
    meaning: 'The alias or preset of config.toml by which the model was requested.',
  },
  'x-svc-step': { on: 'inference', meaning: 'Dispatch step that chose the slot or upstream.' },
  'x-svc-overhead-ms': {
    on: 'inference',
    meaning:
      'Milliseconds that the gateway itself spent between the end of the body and sending the request. Loads and queues do not count.',
  },
  'x-svc-degraded': {
    on: 'inference',
    meaning:
      'Why the request ran with less than requested, for example on a slower device. Absent otherwise.',
  },
  [CONVERSATION_HEADER]: {
    on: 'chats and completions, served by the embedded engine',
    meaning:
      'What happened to the beginning of the conversation, with the tokens that were not computed again. `restored; tokens=812; from=disk` (or `memory`): from a saved state. `reused; tokens=812`: the engine still held it. `computed; tokens=0; reason=no_saved_prefix`: it was read again, because no saved state begins like it; other reasons are `not_configured`, `unavailable`, `too_short`, `changed_earlier`, `settings_changed`, `model_changed` and `damaged`.',
  },
  'x-svc-omni': {
    on: 'chat with the tool loop requested',
    meaning: '`on`: the tool loop ran. `unavailable`: it could not run and the chat was served without it.',
  },
  'x-svc-ignored': {
    on: '`/v1/responses`, `/v1/messages`, `/v1/chat/completions`, `/v1/completions`',
    meaning:
      'What the model did not receive or received as a placeholder text: blocks, items and tools that only a provider can use, and images or files that the model cannot read. Also the keywords of JSON schemas that the embedded engine does not enforce, such as `response_format.multipleOf` or `tools.format:uri`, and `n` when the answer has fewer choices than requested. At most 200 characters.',
  },
  'x-svc-ignored-tools': {
    on: '`/v1/responses`',
    meaning: 'Tools that were left out because only a provider can run them.',
  },
  'x-should-retry': {
    on: 'errors',
    meaning: '`true` or `false`: whether official OpenAI and Anthropic clients repeat the request.',
  },
  'retry-after': { on: 'errors with a known delay', meaning: 'Seconds after which to try again.' },
  'retry-after-ms': {
    on: 'errors of an upstream',
    meaning: 'The same in milliseconds, when the upstream sent it.',
  },
  ...Object.fromEntries(
    RATE_LIMIT_HEADERS.map((name) => [
      name,
      { on: 'inference, served by an upstream', meaning: 'Rate limit of the provider, when it sends one.' },
    ]),
  ),
  'x-svc-instance': {
    on: '`GET /v1/models` of another gateway',
    meaning: 'Instance name of this gateway, by which another svc-gateway detects loops.',
    exposed: false,
  },
};

/** Headers of requests that the gateway itself reads. */
export const REQUEST_HEADERS: Readonly<Record<string, HeaderRow>> = {
  authorization: { on: 'every request', meaning: '`Bearer <key>`: the admin or client key.' },
  'if-match': {
    on: 'changes of settings, slots and upstreams',
    meaning:
      'The `revision` of the view that the change is based on. 412 `config.stale` when the file has changed since.',
  },
  'last-event-id': {
    on: 'event streams of `/api`',
    meaning: 'Id of the last received event. The stream continues after it, or starts with a `gap` event.',
  },
  traceparent: { on: 'inference', meaning: 'W3C trace context; the parent of the span of the request.' },
  'x-svc-model-filter': {
    on: '`GET /v1/models`',
    meaning: 'Comma-separated owners; only their models are listed.',
  },
  'anthropic-version': {
    on: '`GET /v1/models`, `GET /v1/models/{model_id}`',
    meaning: "Any value: the response has the form of Anthropic's API.",
  },
  'x-svc-priority': {
    on: 'inference',
    meaning: '`batch` queues the request behind interactive ones.',
  },
  [ALLOW_FALLBACK_HEADER]: {
    on: 'chats, completions and reranking',
    meaning:
      '`1` permits a model of `[fallbacks]` in place of a requested one that is busy or cannot be reached, `0` forbids it. Default: `fallbacks.enabled`.',
  },
  'x-svc-hops': {
    on: 'requests between gateways',
    meaning:
      'Instance names that the request has passed. 508 `upstream.loop` when this gateway is among them.',
  },
};
