import { hostName } from './host-name.ts';
import { proxyAddress } from './proxy-address.ts';
import { choice, flag, list, number, origin, type SettingType, text } from './setting-types.ts';

/** One setting. Daemon, command line, dashboard, docs and example files are generated from these rows. */
export interface SettingRowDef<T> {
  /** Environment variable, if it has one. */
  readonly env?: string;
  /** `table.key` in config.toml, if it can be persisted there. */
  readonly toml?: string;
  readonly type: SettingType<T>;
  readonly default: T;
  readonly secret?: boolean;
  /** Whether a change takes effect at once. Otherwise it takes effect at the next start. */
  readonly live: boolean;
  readonly help: string;
}

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
    help: 'Address the gateway listens on; 0.0.0.0 for every IPv4 address of this host.',
  }),
  port: row({
    env: 'SVC_PORT',
    toml: 'server.port',
    type: number(0, 65_535),
    default: 8080,
    live: false,
    help: 'TCP port the gateway listens on; 0 takes a free one.',
  }),
  maxConnections: row({
    toml: 'server.max_connections',
    type: number(1, 65_536),
    default: 1024,
    live: false,
    help: 'Most connections open at once.',
  }),
  drainLimitS: row({
    toml: 'server.drain_limit_s',
    type: number(0, 600, false),
    default: 15,
    live: true,
    help: 'Seconds that running answers may take to finish when the gateway stops.',
  }),
  adminKey: row({
    env: 'SVC_ADMIN_KEY',
    type: key,
    default: '',
    secret: true,
    live: true,
    help: 'Admin credential; required before enforcement can be turned on.',
  }),
  clientKey: row({
    env: 'SVC_CLIENT_KEY',
    type: key,
    default: '',
    secret: true,
    live: true,
    help: 'Client credential for apps that call /v1.',
  }),
  requireAuth: row({
    env: 'SVC_REQUIRE_AUTH',
    toml: 'security.require_auth',
    type: flag({ unknownIsOn: true }),
    default: false,
    live: true,
    help: 'Whether callers need a key.',
  }),
  trustForwardedFor: row({
    env: 'SVC_TRUST_FORWARDED_FOR',
    toml: 'security.trust_forwarded_for',
    type: flag(),
    default: false,
    live: true,
    help: 'Read the caller address from X-Forwarded-For; only behind a proxy that overwrites it.',
  }),
  trustedProxies: row({
    toml: 'security.trusted_proxies',
    type: list(proxyAddress),
    default: [] as readonly string[],
    live: true,
    help: 'Addresses or CIDR ranges of your proxies, skipped from the right in X-Forwarded-For.',
  }),
  allowedOrigins: row({
    env: 'SVC_ALLOWED_ORIGINS',
    toml: 'security.allowed_origins',
    type: list(origin),
    default: [] as readonly string[],
    live: true,
    help: 'Browser origins that may call the gateway besides its own.',
  }),
  allowedHosts: row({
    env: 'SVC_ALLOWED_HOSTS',
    toml: 'security.allowed_hosts',
    type: list(hostName),
    default: [] as readonly string[],
    live: true,
    help: 'Further host names the gateway answers under while enforcement is off.',
  }),
  guardRemoteAdmin: row({
    toml: 'security.guard_remote_admin',
    type: flag(),
    default: true,
    live: true,
    help: 'With enforcement off: callers from other machines still need the admin key on admin routes.',
  }),
  allowPublicWithoutAuth: row({
    toml: 'security.allow_public_without_auth',
    type: flag(),
    default: false,
    live: false,
    help: 'Start on a publicly routable address although enforcement is off.',
  }),
  memoryClass: row({
    toml: 'security.memory_class',
    type: choice('admin', 'client'),
    default: 'admin' as 'admin' | 'client',
    live: true,
    help: 'Which tier may read and add memories; deleting stays admin.',
  }),
  loginRatelimitMax: row({
    env: 'SVC_LOGIN_RATELIMIT_MAX',
    toml: 'security.login_ratelimit_max',
    type: number(1, 100_000),
    default: 10,
    live: true,
    help: 'Logins and rotations per address within the window.',
  }),
  loginRatelimitWindowS: row({
    env: 'SVC_LOGIN_RATELIMIT_WINDOW_S',
    toml: 'security.login_ratelimit_window_s',
    type: number(0.1, 86_400, false),
    default: 60,
    live: true,
    help: 'Window of the login limiter in seconds.',
  }),
  model: row({
    env: 'SVC_MODEL',
    toml: 'models.agent',
    type: text(),
    default: '',
    live: false,
    help: 'Path of a .gguf file that slot agent serves.',
  }),
  modelFolders: row({
    toml: 'models.folders',
    type: list(),
    default: [] as readonly string[],
    live: true,
    help: 'Folders that are scanned for models; read only.',
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
    help: 'Address of the model hub, or of a mirror of it.',
  }),
  hubToken: row({
    env: 'HF_TOKEN',
    type: key,
    default: '',
    secret: true,
    live: true,
    help: 'Token for gated and private repositories of the model hub.',
  }),
  pullRate: row({
    toml: 'models.pull_bytes_per_second',
    type: number(0, 2 ** 40),
    default: 0,
    live: true,
    help: 'Most bytes per second that downloads of models take together; 0 = no limit.',
  }),
  espeak: row({
    env: 'SVC_ESPEAK',
    toml: 'models.espeak',
    type: flag(),
    default: true,
    live: true,
    help: 'Let espeak-ng speak, where it is installed, as long as there is no other voice.',
  }),
  cpuThreads: row({
    env: 'SVC_CPU_THREADS',
    toml: 'slots.cpu_threads',
    type: number(0, 1024),
    default: 0,
    live: true,
    help: 'Threads shared by all CPU slots; 0 = physical cores minus one.',
  }),
  memoryLimit: row({
    env: 'SVC_MEMORY_LIMIT',
    toml: 'slots.memory_limit',
    type: number(0, 2 ** 50),
    default: 0,
    live: true,
    help: 'Most bytes of one memory (of the machine, of a card) that models may take; 0 = no limit.',
  }),
  queueMax: row({
    toml: 'slots.queue_max',
    type: number(1, 10_000),
    default: 64,
    live: true,
    help: 'Requests that may wait for one slot.',
  }),
  loadWaitStreamS: row({
    toml: 'slots.load_wait_stream_s',
    type: number(1, 86_400),
    default: 600,
    live: true,
    help: 'Seconds a streaming caller waits for a load.',
  }),
  loadWaitS: row({
    toml: 'slots.load_wait_s',
    type: number(1, 86_400),
    default: 300,
    live: true,
    help: 'Seconds any other caller waits for a load.',
  }),
  containerSocket: row({
    toml: 'slots.container_socket',
    type: text(/^$|^(unix:\/\/)?\/[^\0]*$/, 'must be an absolute path'),
    default: '',
    live: true,
    help: 'API socket of Podman or Docker; blank looks at the usual places.',
  }),
  keepContainers: row({
    toml: 'slots.keep_containers',
    type: flag(),
    default: true,
    live: true,
    help: 'Loaded slots in containers run on when the gateway stops, and its next start takes them up.',
  }),
  connectTimeoutS: row({
    toml: 'inference.connect_timeout_s',
    type: number(0.1, 600, false),
    default: 5,
    live: true,
    help: 'Seconds to connect to an engine or upstream.',
  }),
  idleTimeoutS: row({
    toml: 'inference.idle_timeout_s',
    type: number(1, 86_400, false),
    default: 600,
    live: true,
    help: 'Seconds an engine may be silent during an answer.',
  }),
  totalTimeoutS: row({
    toml: 'inference.total_timeout_s',
    type: number(0, 864_000, false),
    default: 0,
    live: true,
    help: 'Seconds one answer may take in all; 0 = no limit.',
  }),
  upstreamListAgeS: row({
    toml: 'upstreams.list_age_s',
    type: number(5, 604_800),
    default: 600,
    live: true,
    help: 'Seconds after which the model list of an upstream is too old to be the last word.',
  }),
  npuSuffix: row({
    toml: 'npu.suffix',
    type: text(/^[a-z0-9]{1,16}$/i),
    default: 'flm',
    live: true,
    help: 'Suffix of model ids that mean the NPU backend.',
  }),
  logLevel: row({
    env: 'SVC_LOG_LEVEL',
    toml: 'observability.log_level',
    type: choice('debug', 'info', 'warn', 'error'),
    default: 'info' as 'debug' | 'info' | 'warn' | 'error',
    live: true,
    help: 'Least severe level that is logged.',
  }),
  captureBodies: row({
    toml: 'observability.capture_bodies',
    type: flag(),
    default: false,
    live: true,
    help: 'Keep the beginning of what requests ask and are answered, in memory, for admins; off = no content anywhere.',
  }),
  requestLogRows: row({
    toml: 'observability.request_log_rows',
    type: number(100, 1_000_000),
    default: 20_000,
    live: true,
    help: 'Rows kept in the request log.',
  }),
  requestLogDays: row({
    toml: 'observability.request_log_days',
    type: number(0, 36_500),
    default: 30,
    live: true,
    help: 'Days for which the request log is kept; 0 = no limit but the rows.',
  }),
  usageRows: row({
    toml: 'observability.usage_rows',
    type: number(1_000, 1_000_000),
    default: 50_000,
    live: true,
    help: 'Rows kept of the usage sums (one for each day, tier and model).',
  }),
  usageDays: row({
    toml: 'observability.usage_days',
    type: number(0, 36_500),
    default: 400,
    live: true,
    help: 'Days for which usage sums are kept; 0 = no limit but the rows.',
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
    help: 'OTLP collector (HTTP) that gets a trace of each inference request; blank = none.',
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
    help: 'Name of this gateway in its traces.',
  }),
  companionBindHost: row({
    env: 'SVC_OWUI_BIND_HOST',
    type: text(/^[A-Za-z0-9.:%_-]+$/),
    default: '127.0.0.1',
    live: false,
    help: 'Address of the companion chat UI; companion.env comes first.',
  }),
  companionPort: row({
    env: 'SVC_OWUI_PORT',
    type: number(1, 65_535),
    default: 3000,
    live: false,
    help: 'Port of the companion chat UI; companion.env comes first.',
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
