import { anthropicEnvelope, anthropicErrorType } from './anthropic-error.ts';

/**
 * One row of the catalogue of all refusals and failures of the gateway itself
 * (docs/spec/contract.md#error-codes).
 */
export interface ErrorRow {
  readonly status: number;
  readonly message: string;
  /** What the caller can do next, in one sentence. */
  readonly advice: string;
}

const row = (status: number, message: string, advice: string): ErrorRow => ({ status, message, advice });

/** All errors: code → status, message, advice. Every non-2xx response of the gateway has one of these codes. */
export const ERRORS = {
  'auth.no_admin_key': row(
    400,
    'No admin key is set, so enforcement cannot be turned on.',
    'Rotate the admin key (svcctl auth rotate admin) or set SVC_ADMIN_KEY in api.env first.',
  ),
  'auth.invalid_key': row(401, 'The key is not the admin key.', 'Check the key in api.env and try again.'),
  'auth.rate_limited': row(
    429,
    'Too many attempts from this address.',
    'Wait for the number of seconds in Retry-After.',
  ),
  'auth.origin_forbidden': row(
    403,
    'This origin may not call the gateway. SVC_ALLOWED_ORIGINS lists the origins that may, in addition to its own.',
    'Open the gateway under its own address, or add the origin of the message to SVC_ALLOWED_ORIGINS.',
  ),
  'auth.host_forbidden': row(
    403,
    'The gateway does not answer under this host name. Add it to [security].allowed_hosts (SVC_ALLOWED_HOSTS).',
    'Add the name to [security].allowed_hosts (SVC_ALLOWED_HOSTS), or turn enforcement on.',
  ),
  'auth.required': row(
    401,
    'A key is required. It is SVC_CLIENT_KEY or SVC_ADMIN_KEY in api.env on the host of the gateway.',
    'Send Authorization: Bearer <key>, or log in. A key that is refused is not one of those in api.env.',
  ),
  'auth.forbidden': row(403, 'The client key has no access to this route.', 'Use the admin key or log in.'),
  'auth.rotate_failed': row(
    500,
    'The environment file could not be replaced; nothing has changed.',
    'See the log for the cause (owner, mode, read-only file system, full disk).',
  ),
  'request.invalid_json': row(400, 'The body is not valid JSON.', 'Send one JSON value in UTF-8.'),
  'request.invalid': row(422, 'Some values are not valid.', 'Correct the fields that details.fields lists.'),
  'request.unknown_reference': row(
    400,
    'The request refers to output that is no longer in memory.',
    'Send the whole conversation as input, with store: false.',
  ),
  'request.invalid_history': row(
    400,
    'A tool call in the history cannot be read.',
    'Correct or remove the call that param names.',
  ),
  'request.malformed': row(
    400,
    'The request line or a header is malformed.',
    'Send a well-formed HTTP request.',
  ),
  'request.upgrade_body': row(
    400,
    'An upgrade request must not have a body.',
    'Send the handshake without Content-Length and Transfer-Encoding.',
  ),
  'request.too_large': row(413, 'The body is larger than this route accepts.', 'Send a smaller body.'),
  'request.timeout': row(
    408,
    'The request did not arrive in time.',
    'Send the whole request without long pauses.',
  ),
  'request.cancelled': row(
    503,
    'An administrator cancelled this request.',
    'Send the request again if it is still needed.',
  ),
  'request.unsupported_type': row(
    415,
    'The content type or encoding of the body is not supported.',
    'Send application/json, plain or in a coding that the header Accept-Encoding of the response names.',
  ),
  'request.missing_model': row(
    400,
    'The field model is required.',
    'Send the id of a model from GET /v1/models.',
  ),
  'route.not_found': row(404, 'There is no such route.', 'See /api/openapi.json for all routes.'),
  'route.method_not_allowed': row(
    405,
    'This route does not support this method.',
    'Use a method from the Allow header.',
  ),
  'dispatch.no_route': row(
    404,
    'No slot or upstream serves this model.',
    'Choose a model from details.suggestions or GET /v1/models.',
  ),
  'dispatch.capability_mismatch': row(
    409,
    'This model does not support this route.',
    'Choose a model of the right type.',
  ),
  'dispatch.upstream_unavailable': row(
    502,
    'The engine or upstream could not be reached.',
    'Try again. If it persists, check the state of the slot or upstream.',
  ),
  'dispatch.upstream_timeout': row(
    504,
    'The engine or upstream did not respond in time.',
    'Try again, or raise inference.idle_timeout_s.',
  ),
  'upstream.auth_failed': row(
    502,
    'The upstream rejected the API key of the gateway.',
    'Correct the key of this upstream in api.env.',
  ),
  'upstream.daily_cap': row(
    429,
    'The daily request limit of this upstream is reached.',
    'Wait until midnight UTC, raise daily_requests of the upstream, or choose another model.',
  ),
  'upstream.loop': row(
    508,
    'The address of the upstream leads back to this gateway.',
    'Correct base_url of the upstream, or stop the gateways from using each other as upstreams.',
  ),
  'upstream.not_found': row(
    404,
    'There is no upstream with this name.',
    'Choose a name from GET /api/upstreams.',
  ),
  'upstream.exists': row(409, 'An upstream with this name already exists.', 'Choose another name.'),
  'upstream.invalid': row(
    422,
    'The settings of the upstream are not valid.',
    'Correct the fields that details.fields lists.',
  ),
  'upstream.error': row(502, 'The engine or upstream responded with an error.', 'See details.upstream.'),
  context_length_exceeded: row(400, 'The prompt is longer than the context window.', 'Shorten the prompt.'),
  'audio.unsupported_format': row(
    415,
    'The audio format is not supported. Supported formats: wav, mp3, flac, ogg, m4a, webm.',
    'Convert the audio to one of the supported formats.',
  ),
  'audio.no_room': row(
    503,
    'There is not enough space to receive this recording now.',
    'Try again later, or free space on the disk of the state folder.',
  ),
  'image.prompt_required': row(
    422,
    'The field prompt is required.',
    'Send a description of the image as a string.',
  ),
  'image.model_not_curated': row(
    404,
    'This image model is not supported.',
    'Choose a supported image model.',
  ),
  'image.not_found': row(
    404,
    'The image does not exist, or was deleted to make room for newer ones.',
    'Generate the image again.',
  ),
  'image.no_room': row(
    503,
    'There is not enough disk space to store the image.',
    'Free space on the disk of the state folder, or request b64_json.',
  ),
  'realtime.unavailable': row(
    503,
    'Live voice needs an stt, a chat and a tts slot. At least one is missing.',
    'Add the missing slots.',
  ),
  'realtime.too_many': row(
    503,
    'Too many realtime sessions are open.',
    'Close a session, or try again later.',
  ),
  'config.write_failed': row(
    500,
    'The configuration could not be written; nothing has changed.',
    'See the log for the cause (owner, mode, read-only file system, full disk).',
  ),
  'config.conflict': row(409, 'Another program changed the file at the same time.', 'Try again.'),
  'config.stale': row(
    412,
    'The file has changed since it was read; nothing was written.',
    'Reload and try again.',
  ),
  'config.broken': row(
    409,
    'The configuration file must be corrected first.',
    'See GET /api/settings for file and line.',
  ),
  'setup.exposed': row(
    409,
    'This machine has an address on the internet, and no key is required: the gateway would refuse to start.',
    'Set an admin key and require keys first (Security), then choose the network.',
  ),
  'slot.not_found': row(404, 'There is no slot with this name.', 'Choose a name from GET /api/slots.'),
  'slot.exists': row(409, 'A slot with this name already exists.', 'Choose another name.'),
  'slot.invalid': row(
    422,
    'The settings of the slot are not valid.',
    'Correct the fields that details.fields lists.',
  ),
  'slot.disabled': row(409, 'The slot is disabled.', 'Set enabled = true in its slot file.'),
  'slot.loading': row(503, 'The model is still loading.', 'Try again after Retry-After.'),
  'slot.queue_full': row(429, 'The queue of this slot is full.', 'Try again after Retry-After.'),
  'slot.failed': row(
    503,
    'The engine of the slot failed.',
    'Fix the cause, then load the slot again (svcctl slots load NAME). See details.reason.',
  ),
  'slot.no_memory': row(
    507,
    'The model does not fit into memory now.',
    'Unload another slot, or choose a smaller model or context. See details for the memory needed and available.',
  ),
  'slot.draining': row(503, 'The gateway is stopping.', 'Try again after Retry-After.'),
  'gateway.stopping': row(
    503,
    'The gateway is stopping. This response is incomplete.',
    'Try again after Retry-After.',
  ),
  'model.not_found': row(404, 'There is no such model.', 'Choose an id from GET /v1/models.'),
  'model.in_use': row(409, 'The model is in use.', 'Unload its slot first.'),
  'model.exists': row(409, 'The model is already registered.', 'Use the registered model.'),
  'model.bench_running': row(
    409,
    'The speed of another model is being measured.',
    'Try again when that measurement has ended.',
  ),
  'model.bench_failed': row(
    502,
    'The engine of the model reports no speed.',
    'Measure a model of engine embedded or llama-server.',
  ),
  'model.kept': row(
    409,
    'The gateway did not download this model and does not delete its files.',
    'Delete the files yourself, or remove their folder from models.folders.',
  ),
  'catalog.invalid': row(422, 'The file is not a catalogue.', 'Choose a catalogue file.'),
  'catalog.checksum_mismatch': row(
    422,
    'The SHA-256 of the catalogue is not the given one; nothing has changed.',
    'Get the file and its SHA-256 again from the same publisher.',
  ),
  'catalog.unreachable': row(
    502,
    'The catalogue could not be downloaded.',
    'Check the address, or download the file and pass its path.',
  ),
  'pull.unsupported': row(
    422,
    'No engine of this gateway can load this model.',
    'Choose another model. If your own llama-server can load it, pass allow_unsupported.',
  ),
  'pull.unknown': row(404, 'There is no such download.', 'See GET /api/pulls.'),
  'pull.state': row(
    409,
    'This is not possible in the current state of the download.',
    'See its state in GET /api/pulls.',
  ),
  'pull.too_many': row(
    429,
    'Too many downloads are unfinished.',
    'Wait until some have finished, or cancel some.',
  ),
  'pull.bad_name': row(
    422,
    'The name of the repository or file is not valid.',
    'Use owner/name, owner/name:QUANTISATION or owner/name:FILE, or paste the address of the page of the model.',
  ),
  'pull.not_found': row(
    404,
    'The hub has no such repository or file.',
    'Check the name on the website of the hub.',
  ),
  'pull.gated': row(
    403,
    'This repository is gated.',
    'Accept its terms on the hub and set HF_TOKEN in api.env.',
  ),
  'backup.exists': row(
    409,
    'A file with this name already exists.',
    'Choose another file name, or overwrite the file with --force.',
  ),
  'backup.write_failed': row(
    500,
    'The backup could not be written; no partial file is left.',
    'Free disk space, or choose a folder that you can write to.',
  ),
  'backup.database': row(
    500,
    'The database could not be copied, so no backup was made.',
    'See svcctl doctor; a damaged database is moved aside at the next start.',
  ),
  'restore.invalid': row(
    422,
    'The archive is not a complete backup of svc-gateway; nothing has changed.',
    'Use a file that svcctl backup wrote, and copy it again if it was transferred.',
  ),
  'restore.newer': row(
    409,
    'The backup was made by a newer release; nothing has changed.',
    'Install the release that made it, or a later one.',
  ),
  'restore.no_space': row(
    507,
    'There is not enough free space in the state folder; nothing has changed.',
    'Free space there and run svcctl restore again.',
  ),
  'restore.failed': row(
    500,
    'The restore did not finish; the replaced files were kept.',
    'Correct the cause and run svcctl restore with the same file again.',
  ),
  'pull.no_space': row(
    507,
    'There is not enough free space for this model.',
    'Remove models that you do not need, then resume the download.',
  ),
  'pull.hub_unreachable': row(
    502,
    'The hub could not be reached.',
    'Check HF_ENDPOINT and the network, then try again.',
  ),
  'pull.checksum_mismatch': row(
    502,
    'Checksum mismatch; the file was deleted.',
    'Try again, or use another mirror.',
  ),
  'pull.web_page': row(
    502,
    'A web page came instead of the file, from a login page, a proxy or a maintenance page.',
    'Log in to the network, or set HF_ENDPOINT to another mirror, then resume the download. Downloaded data is retained.',
  ),
  'pull.no_model': row(422, 'The downloaded file is not a usable model.', 'Choose another file.'),
  'pull.write_failed': row(
    500,
    'The models folder could not be written.',
    'Check the owner and mode of the state folder, then resume the download.',
  ),
  'memory.full': row(507, 'The store for assistant notes is full.', 'Delete notes that you do not need.'),
  'memory.not_found': row(404, 'There is no such note.', 'See GET /api/memory.'),
  'request.not_found': row(404, 'There is no such request.', 'See GET /api/requests.'),
  'events.too_many': row(
    503,
    'Too many clients are connected to the event stream.',
    'Close some dashboard tabs, or try again after Retry-After.',
  ),
  'store.unavailable': row(
    503,
    'The database is busy or damaged.',
    'Try again. If it persists, see the health checks.',
  ),
  internal: row(
    500,
    'An internal error occurred in the gateway.',
    'Look up the request id in the gateway log.',
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(ERRORS, code);

/** Returns the catalogue code under which a foreign error code is counted. */
export const catalogCodeOf = (code: unknown): ErrorCode => (isErrorCode(code) ? code : 'upstream.error');

/** OpenAI's `type` for a status. */
export function openaiErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** The API dialect of an error response. */
export type ErrorDialect = 'api' | 'openai' | 'anthropic' | 'ollama';

/** The `type` of an error by its status, in each dialect that has one. */
const TYPE_OF = { openai: openaiErrorType, anthropic: anthropicErrorType } as const;

export interface ErrorEnvelope {
  /** On the routes of Anthropic's API. */
  type?: 'error';
  error: {
    code: string;
    message: string;
    /** What the caller can do. On `/api`. */
    advice?: string;
    details?: Record<string, unknown>;
    type?: string;
    param?: string | null;
  };
}

export interface FailureOptions {
  message?: string;
  details?: Record<string, unknown>;
  /** The request field at fault, for OpenAI clients. */
  param?: string;
  /** Seconds after which trying again helps; becomes `Retry-After`. */
  retryAfterS?: number;
  /** Waiting does not help; becomes `x-should-retry: false`. */
  noRetry?: boolean;
  headers?: Record<string, string>;
  status?: number;
  cause?: unknown;
  /** Its cause was logged when it occurred, so that not every refused request is. */
  isLogged?: boolean;
}

/**
 * The official clients retry a 409, and Claude Code retries a 401 for minutes without a word. No 401 or 409 of
 * the gateway is resolved by waiting.
 */
const NEVER_RETRIED: ReadonlySet<number> = new Set([401, 409]);

/** An error that is reported to the caller. Any other error becomes `internal`. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly options: FailureOptions;

  constructor(code: ErrorCode, options: FailureOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? ERRORS[code].status;
    this.options = options;
  }

  /** Returns the same failure with another message and more details. Its class, cause and stack stay. */
  with({ message = this.message, details }: Pick<FailureOptions, 'message' | 'details'>): this {
    const { code, status, cause, stack } = this;
    const options = { ...this.options, message, details: { ...this.options.details, ...details } };
    const copy = new GatewayError(code, { ...options, status, cause });
    Object.setPrototypeOf(copy, Object.getPrototypeOf(this));
    return Object.assign(copy, { ...this, options, stack }) as this;
  }

  /** The headers that belong to this failure (`Retry-After`, `x-should-retry`, `WWW-Authenticate`). */
  headers(): Record<string, string> {
    const out: Record<string, string> = { ...this.options.headers };
    if (this.options.retryAfterS !== undefined) {
      out['retry-after'] = String(Math.max(1, Math.ceil(this.options.retryAfterS)));
    }
    if (this.options.noRetry || NEVER_RETRIED.has(this.status)) out['x-should-retry'] = 'false';
    if (this.code === 'auth.required') out['www-authenticate'] ??= 'Bearer realm="svc"';
    return out;
  }

  /**
   * The body: with the advice of the catalogue on `/api`, with OpenAI's `type` and `param` on `/v1`, with Anthropic's
   * types on its routes.
   * Clients of Ollama show the text of `error` and nothing else.
   */
  envelope(dialect: Exclude<ErrorDialect, 'ollama'>): ErrorEnvelope;
  envelope(dialect: ErrorDialect): ErrorEnvelope | { error: string };
  envelope(dialect: ErrorDialect): ErrorEnvelope | { error: string } {
    if (dialect === 'ollama') return { error: this.message };
    const { details, param } = this.options;
    const body: ErrorEnvelope = {
      error: {
        code: this.code,
        message: this.message,
        ...(dialect === 'api' ? { advice: ERRORS[this.code].advice } : {}),
        ...(details === undefined ? {} : { details }),
        ...(dialect === 'api' ? {} : { type: TYPE_OF[dialect](this.status), param: param ?? null }),
      },
    };
    return dialect === 'anthropic' ? anthropicEnvelope(body) : body;
  }
}
