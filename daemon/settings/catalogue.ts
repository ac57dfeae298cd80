import type { PersistMode } from '../contract/kv-cache.ts';
import { hostName } from './host-name.ts';
import { type ModelMap, modelMap } from './model-map.ts';
import { aliasTable, type Preset, presetTable } from './name-tables.ts';
import { proxyAddress } from './proxy-address.ts';
import { byteSize, choice, flag, list, number, origin, type SettingType, text } from './setting-types.ts';

/** One setting. Daemon, command line, dashboard, docs and example files are generated from these rows. */
export interface SettingRowDef<T> {
  /** Environment variable, if it has one. */
  readonly env?: string;
  /**
   * `table.key` in config.toml, the name of a whole table, or `table.*` for all keys of a table that no other setting
   * has, if it can be persisted there.
   */
  readonly toml?: string;
  /** A line of config.toml, where the default does not show what one looks like. */
  readonly example?: string;
  readonly type: SettingType<T>;
  readonly default: T;
  readonly secret?: boolean;
  /** Unit of a number that views show with a suitable prefix. */
  readonly unit?: 'bytes';
  /** Whether a change takes effect immediately. Otherwise it takes effect at the next start. */
  readonly live: boolean;
  readonly help: string;
}

/** The host of a storage. */
const storageHost = (entry: string) =>
  /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(entry)
    ? { ok: true as const, value: entry.toLowerCase() }
    : { ok: false as const, reason: 'is not a host such as minio.lan:9000' };

const row = <T>(def: SettingRowDef<T>): SettingRowDef<T> => def;
const key = text(/^[\x20-\x7e]+$/, 'must be printable ASCII');

/**
 * All settings of the gateway (docs/spec/specification.md#environment-variables,
 * docs/spec/contract.md#settings).
 */
export const SETTINGS = {
  bindHost: row({
    env: 'SVC_BIND_HOST',
    toml: 'server.bind_host',
    type: text(/^[A-Za-z0-9.:%_-]+$/),
    default: '127.0.0.1',
    live: false,
    help: 'Address that the gateway listens on. Use 0.0.0.0 for every IPv4 address of this machine.',
  }),
  port: row({
    env: 'SVC_PORT',
    toml: 'server.port',
    type: number(0, 65_535),
    default: 8080,
    live: false,
    help: 'TCP port that the gateway listens on. 0 chooses a free port.',
  }),
  maxConnections: row({
    toml: 'server.max_connections',
    type: number(1, 65_536),
    default: 1024,
    live: false,
    help: 'Maximum number of open connections. At the limit, an idle connection is closed to make room for a new one.',
  }),
  drainLimitS: row({
    toml: 'server.drain_limit_s',
    type: number(0, 600, false),
    default: 15,
    live: true,
    help: 'Time in seconds that running responses get to finish when the gateway stops.',
  }),
  adminKey: row({
    env: 'SVC_ADMIN_KEY',
    type: key,
    default: '',
    secret: true,
    live: true,
    help: 'Admin key. Grants access to every route. Must be set before keys can be required.',
  }),
  clientKey: row({
    env: 'SVC_CLIENT_KEY',
    type: key,
    default: '',
    secret: true,
    live: true,
    help: 'Client key for apps that call /v1.',
  }),
  requireAuth: row({
    env: 'SVC_REQUIRE_AUTH',
    toml: 'security.require_auth',
    type: flag({ unknownIsOn: true }),
    default: false,
    live: true,
    help: 'Require a key for every request, except on open routes.',
  }),
  trustForwardedFor: row({
    env: 'SVC_TRUST_FORWARDED_FOR',
    toml: 'security.trust_forwarded_for',
    type: flag(),
    default: false,
    live: true,
    help: 'Read the client address from X-Forwarded-For. Turn this on only behind a proxy that overwrites the header.',
  }),
  trustedProxies: row({
    toml: 'security.trusted_proxies',
    type: list(proxyAddress),
    default: [] as readonly string[],
    live: true,
    help: 'IP addresses or CIDR ranges of your proxies. They are skipped, from right to left, when X-Forwarded-For is read.',
  }),
  allowedOrigins: row({
    env: 'SVC_ALLOWED_ORIGINS',
    toml: 'security.allowed_origins',
    type: list(origin),
    default: [] as readonly string[],
    live: true,
    help: 'Origins of web pages that may call the gateway, in addition to its own.',
  }),
  allowedHosts: row({
    env: 'SVC_ALLOWED_HOSTS',
    toml: 'security.allowed_hosts',
    type: list(hostName),
    default: [] as readonly string[],
    live: true,
    help: 'Additional host names that the gateway answers to while no key is required.',
  }),
  guardRemoteAdmin: row({
    toml: 'security.guard_remote_admin',
    type: flag(),
    default: true,
    live: true,
    help: 'Require the admin key on admin routes for callers on other machines, even while no key is required elsewhere.',
  }),
  verifyPresentedKeys: row({
    toml: 'security.verify_presented_keys',
    type: flag(),
    default: false,
    live: true,
    help: 'Answer 401 when an app sends a wrong key to the model list, which needs no key. Its connection test then fails as it should.',
  }),
  allowPublicWithoutAuth: row({
    toml: 'security.allow_public_without_auth',
    type: flag(),
    default: false,
    live: false,
    help: 'Allow the gateway to start on a public address while no key is required.',
  }),
  memoryClass: row({
    toml: 'security.memory_class',
    type: choice('admin', 'client'),
    default: 'admin' as 'admin' | 'client',
    live: true,
    help: 'Who may read and add assistant notes: admin (the admin key) or client (any key). Deleting always needs the admin key.',
  }),
  loginRatelimitMax: row({
    env: 'SVC_LOGIN_RATELIMIT_MAX',
    toml: 'security.login_ratelimit_max',
    type: number(1, 100_000),
    default: 10,
    live: true,
    help: 'Maximum number of logins and key rotations per client address within login_ratelimit_window_s.',
  }),
  loginRatelimitWindowS: row({
    env: 'SVC_LOGIN_RATELIMIT_WINDOW_S',
    toml: 'security.login_ratelimit_window_s',
    type: number(0.1, 86_400, false),
    default: 60,
    live: true,
    help: 'Time window of the login limit, in seconds.',
  }),
  model: row({
    env: 'SVC_MODEL',
    toml: 'models.agent',
    type: text(),
    default: '',
    live: false,
    help: 'Path of the .gguf file that slot agent serves.',
  }),
  modelsListed: row({
    toml: 'models.listed',
    type: list(),
    default: [] as readonly string[],
    live: true,
    help: 'Patterns (* = anything) of the ids that GET /v1/models lists. Empty lists all. Names that are not listed still work.',
  }),
  aliases: row({
    toml: 'aliases',
    type: aliasTable,
    default: {} as Readonly<Record<string, string>>,
    live: true,
    help: 'Other names of models: "name" = "slot or model". A name with * matches every name that nothing else has.',
  }),
  presets: row({
    toml: 'presets',
    type: presetTable,
    default: {} as Readonly<Record<string, Preset>>,
    live: true,
    help: 'Names with settings: [presets.NAME] has model, and set, default, strip and system for its requests.',
  }),
  modelFolders: row({
    toml: 'models.folders',
    type: list(),
    default: [] as readonly string[],
    live: true,
    help: 'Folders that are scanned for models. The gateway never writes to them.',
  }),
  hubUrl: row({
    env: 'HF_ENDPOINT',
    toml: 'models.hub_url',
    type: text(
      /^https?:\/\/[A-Za-z0-9.:[\]-]+(\/[A-Za-z0-9._~/-]*)?$/,
      'must be an address like https://hub.example',
    ),
    default: 'https://huggingface.co',
    live: true,
    help: 'Base URL of the Hugging Face hub or of a mirror.',
  }),
  hubStorageHosts: row({
    toml: 'models.hub_storage_hosts',
    type: list(storageHost),
    default: [] as readonly string[],
    live: true,
    help: 'Hosts in your network to which a mirror may redirect downloads, as name or name:port. The hub token is not sent there.',
  }),
  hubToken: row({
    env: 'HF_TOKEN',
    type: key,
    default: '',
    secret: true,
    live: true,
    help: 'Hugging Face access token, for gated and private repositories.',
  }),
  pullRate: row({
    toml: 'models.pull_bytes_per_second',
    type: byteSize(2 ** 40),
    default: 0,
    unit: 'bytes',
    live: true,
    help: 'Maximum total speed of model downloads, in bytes per second. 0 = no limit.',
  }),
  espeak: row({
    env: 'SVC_ESPEAK',
    toml: 'models.espeak',
    type: flag(),
    default: true,
    live: true,
    help: 'Use espeak-ng for speech, if it is installed and no other voice is available.',
  }),
  cpuThreads: row({
    env: 'SVC_CPU_THREADS',
    toml: 'slots.cpu_threads',
    type: number(0, 1024),
    default: 0,
    live: true,
    help: 'Number of threads that all CPU slots share. 0 = number of physical cores minus one.',
  }),
  memoryLimit: row({
    env: 'SVC_MEMORY_LIMIT',
    toml: 'slots.memory_limit',
    type: byteSize(2 ** 50),
    default: 0,
    unit: 'bytes',
    live: true,
    help: 'Maximum memory for models, such as 12 GB, per memory pool (RAM or one GPU). 0 = no limit.',
  }),
  kvCachePersist: row({
    toml: 'kv_cache.persist',
    type: choice('off', 'memory', 'disk'),
    default: 'memory' as PersistMode,
    live: true,
    help: 'Where conversations are saved when their model is unloaded: off, memory (at most 10 % of it) or disk.',
  }),
  kvCacheMaxBytes: row({
    toml: 'kv_cache.max_bytes',
    type: byteSize(2 ** 50),
    default: 8 * 1024 ** 3,
    unit: 'bytes',
    live: true,
    help: 'Maximum size of the conversation states on disk, such as 8 GB. The oldest are deleted first.',
  }),
  queueMax: row({
    toml: 'slots.queue_max',
    type: number(1, 10_000),
    default: 64,
    live: true,
    help: 'Maximum number of requests that wait for one slot. Further requests get status 429. Embedding and rerank slots queue 1024.',
  }),
  loadWaitStreamS: row({
    toml: 'slots.load_wait_stream_s',
    type: number(1, 86_400),
    default: 600,
    live: true,
    help: 'Time in seconds that a streaming request waits for a model to load.',
  }),
  loadWaitS: row({
    toml: 'slots.load_wait_s',
    type: number(1, 86_400),
    default: 300,
    live: true,
    help: 'Time in seconds that a request without streaming waits for a model to load.',
  }),
  containerSocket: row({
    toml: 'slots.container_socket',
    type: text(/^$|^(unix:\/\/)?\/[^\0]*$/, 'must be an absolute path'),
    default: '',
    live: true,
    help: 'Path of the Podman or Docker API socket. If blank, the usual paths are tried.',
  }),
  keepContainers: row({
    toml: 'slots.keep_containers',
    type: flag(),
    default: true,
    live: true,
    help: 'Keep loaded container slots running when the gateway stops. The next start reuses them.',
  }),
  connectTimeoutS: row({
    toml: 'inference.connect_timeout_s',
    type: number(0.1, 600, false),
    default: 5,
    live: true,
    help: 'Time limit in seconds for connecting to an engine or upstream.',
  }),
  idleTimeoutS: row({
    toml: 'inference.idle_timeout_s',
    type: number(1, 86_400, false),
    default: 600,
    live: true,
    help: 'Maximum time in seconds between two parts of a response from an engine or upstream.',
  }),
  totalTimeoutS: row({
    toml: 'inference.total_timeout_s',
    type: number(0, 864_000, false),
    default: 0,
    live: true,
    help: 'Time limit in seconds for a whole response. 0 = no limit.',
  }),
  upstreamListAgeS: row({
    toml: 'upstreams.list_age_s',
    type: number(5, 604_800),
    default: 600,
    live: true,
    help: 'Age in seconds after which the model list of an upstream is fetched again before a model counts as missing.',
  }),
  prefixAffinity: row({
    toml: 'upstreams.prefix_affinity',
    type: number(0, 1000),
    default: 2,
    live: true,
    help: 'Extra active requests, compared with the least busy equal upstream, at which a conversation still returns to its upstream.',
  }),
  fallbacksEnabled: row({
    toml: 'fallbacks.enabled',
    type: flag(),
    default: false,
    live: true,
    help: 'Use the fallbacks of a model for every caller. When off, only for requests with the header x-svc-allow-fallback: 1.',
  }),
  fallbacks: row({
    toml: 'fallbacks.*',
    type: modelMap,
    default: {} as ModelMap,
    example: '"qwen3-32b" = ["qwen3-8b", "gpt-5-mini"]',
    live: true,
    help: 'Models that serve a chat or rerank request, in order, when the model on the left is busy or cannot be reached. Their own lists are not followed.',
  }),
  npuSuffix: row({
    toml: 'npu.suffix',
    type: text(/^[a-z0-9]{1,16}$/i),
    default: 'flm',
    live: true,
    help: 'Suffix of model ids that run on the NPU.',
  }),
  logLevel: row({
    env: 'SVC_LOG_LEVEL',
    toml: 'observability.log_level',
    type: choice('debug', 'info', 'warn', 'error'),
    default: 'info' as 'debug' | 'info' | 'warn' | 'error',
    live: true,
    help: 'Minimum level of log lines.',
  }),
  captureBodies: row({
    toml: 'observability.capture_bodies',
    type: flag(),
    default: false,
    live: true,
    help: 'Keep the first part of each request and response in RAM, where admins can read it. When off, no content is stored.',
  }),
  requestLogRows: row({
    toml: 'observability.request_log_rows',
    type: number(100, 1_000_000),
    default: 20_000,
    live: true,
    help: 'Maximum number of rows in the request log. The oldest are deleted first.',
  }),
  requestLogDays: row({
    toml: 'observability.request_log_days',
    type: number(0, 36_500),
    default: 30,
    live: true,
    help: 'Number of days to keep the request log. 0 = no limit by age.',
  }),
  usageRows: row({
    toml: 'observability.usage_rows',
    type: number(1_000, 1_000_000),
    default: 50_000,
    live: true,
    help: 'Maximum number of rows in the usage table (one per day, tier and model).',
  }),
  usageDays: row({
    toml: 'observability.usage_days',
    type: number(0, 36_500),
    default: 400,
    live: true,
    help: 'Number of days to keep usage data. 0 = no limit by age.',
  }),
  otlpEndpoint: row({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    toml: 'observability.otlp_endpoint',
    type: text(
      /^$|^https?:\/\/[A-Za-z0-9.:[\]_-]+(\/[A-Za-z0-9._~/-]*)?$/,
      'must be an address like http://collector.lan:4318, without user and query',
    ),
    default: '',
    live: true,
    help: 'URL of an OTLP collector (HTTP) that receives a trace of each inference request. If blank, no traces are sent.',
  }),
  otlpHeaders: row({
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    type: text(
      /^$|^[\w-]+=[\x21-\x2b\x2d-\x7e ]*(,\s*[\w-]+=[\x21-\x2b\x2d-\x7e ]*)*$/,
      'must be name=value pairs with commas between them',
    ),
    default: '',
    secret: true,
    live: true,
    help: 'Headers for the OTLP collector, such as authorization=Bearer%20TOKEN.',
  }),
  otlpServiceName: row({
    env: 'OTEL_SERVICE_NAME',
    toml: 'observability.otlp_service_name',
    type: text(/^[^"\\]{1,64}$/),
    default: 'svc-gateway',
    live: true,
    help: 'Service name of this gateway in traces.',
  }),
  companionBindHost: row({
    env: 'SVC_OWUI_BIND_HOST',
    type: text(/^[A-Za-z0-9.:%_-]+$/),
    default: '127.0.0.1',
    live: false,
    help: 'Address that the companion chat UI listens on. A value in companion.env takes precedence.',
  }),
  companionPort: row({
    env: 'SVC_OWUI_PORT',
    type: number(1, 65_535),
    default: 3000,
    live: false,
    help: 'Port of the companion chat UI. A value in companion.env takes precedence.',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> =
  (typeof SETTINGS)[N] extends SettingRowDef<infer T> ? T : never;

/** Returns all rows as plain data, in the order of the table. */
export function settingRows(): ReadonlyArray<SettingRowDef<unknown> & { name: SettingName }> {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
    name,
    ...(SETTINGS[name] as SettingRowDef<unknown>),
  }));
}
