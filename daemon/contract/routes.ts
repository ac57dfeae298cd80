import type { AuthClass } from './auth.ts';

/**
 * `memory` follows the setting `[security].memory_class`; every other value is a class of
 * docs/spec/specification.md#route-classes.
 */
export type ClassRule = AuthClass | 'memory';

/** Which body a route reads, and therefore which cap applies (docs/spec/contract.md#caps). */
export type BodyKind = 'none' | 'auth' | 'api' | 'inference' | 'audio';

/**
 * The kind of response of a route. `shell` routes serve the built dashboard; `hint` routes answer 404 with the
 * right address.
 */
export type RouteKind = 'api' | 'sse' | 'inference' | 'websocket' | 'shell' | 'text' | 'image' | 'hint';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface RouteRow {
  readonly method: Method;
  /** Pattern of the router: `:name` is one segment, `*name` spans slashes. */
  readonly path: string;
  readonly auth: ClassRule;
  readonly body: BodyKind;
  readonly kind: RouteKind;
  readonly limiter?: 'login';
  readonly summary: string;
}

type InferenceRow = RouteRow & { readonly kind: 'inference' };

const api = (method: Method, path: string, auth: ClassRule, body: BodyKind, summary: string): RouteRow => ({
  method,
  path,
  auth,
  body,
  kind: 'api',
  summary,
});
const limited = (row: RouteRow): RouteRow => ({ ...row, limiter: 'login' });
const kind = (what: RouteKind, row: RouteRow): RouteRow => ({ ...row, kind: what });
const infer = (path: string, summary: string, body: BodyKind = 'inference'): InferenceRow => ({
  method: 'POST',
  path,
  auth: 'client',
  body,
  kind: 'inference',
  summary,
});
const shell = (path: string, summary: string): RouteRow => ({
  method: 'GET',
  path,
  auth: 'open',
  body: 'none',
  kind: 'shell',
  summary,
});

/** A wrong base URL (docs/spec/contract.md#wrong-base-urls). The body of a POST is not read. */
const hint = (method: Method, path: string, summary = 'Wrong base URL: names the right one'): RouteRow => ({
  method,
  path,
  auth: 'client',
  body: method === 'GET' ? 'none' : 'inference',
  kind: 'hint',
  summary,
});
const ollama = (method: Method, path: string): RouteRow =>
  hint(method, path, "Ollama's API: names the base URL for OpenAI clients");

/**
 * All routes. Router, guard, exposure view, OpenAPI, command line and dashboard client use this table. Any
 * other path is admin (deny by default). The order is the evaluation order.
 */
export const ROUTES = {
  'auth.login': limited(api('POST', '/api/auth/login', 'open', 'auth', 'Log in with the admin key')),
  'auth.logout': api('POST', '/api/auth/logout', 'open', 'none', 'End this session'),
  'auth.status': api(
    'GET',
    '/api/auth/status',
    'open',
    'none',
    'Whether keys are required, and the tier of the caller',
  ),
  'auth.require': api('PUT', '/api/auth/require', 'admin', 'auth', 'Require keys, or stop requiring them'),
  'auth.rotate': limited(api('POST', '/api/auth/rotate', 'admin', 'auth', 'Replace the admin or client key')),
  'auth.exposure': api('GET', '/api/auth/exposure', 'admin', 'none', 'The class of every route'),
  'auth.sessions': api('GET', '/api/auth/sessions', 'admin', 'none', 'Valid browser sessions'),
  'auth.sessions.end': api('POST', '/api/auth/sessions/end', 'admin', 'none', 'End all sessions'),

  'v1.models': api('GET', '/v1/models', 'open', 'none', 'List models'),
  'v1.model': api('GET', '/v1/models/*model_id', 'open', 'none', 'One model by its id'),
  'v1.chat': infer('/v1/chat/completions', 'Chat completion'),
  'v1.chat.count': infer('/v1/chat/completions/input_tokens', 'Token count of a chat'),
  'v1.responses': infer('/v1/responses', 'OpenAI Responses API, without storage'),
  'v1.messages.count': infer('/v1/messages/count_tokens', 'Anthropic token counting'),
  'v1.messages': infer('/v1/messages', 'Anthropic Messages API'),
  'v1.completions': infer('/v1/completions', 'Text completion'),
  'v1.embeddings': infer('/v1/embeddings', 'Embeddings'),
  'v1.rerankings': infer('/v1/rerankings', 'Rerank documents'),
  'v1.rerank': infer('/v1/rerank', 'Rerank documents (alias)'),
  'v1.reranking': infer('/v1/reranking', 'Rerank documents (alias)'),
  'v1.score': infer('/v1/score', 'Score pairs of texts'),
  'v1.transcriptions': infer('/v1/audio/transcriptions', 'Speech to text', 'audio'),
  'v1.speech': infer('/v1/audio/speech', 'Text to speech'),
  'v1.audio.voices': api('GET', '/v1/audio/voices', 'client', 'none', 'Voices for speech'),
  'v1.audio.models': api('GET', '/v1/audio/models', 'client', 'none', 'Text-to-speech models'),
  'v1.images': infer('/v1/images/generations', 'Text to image'),
  'v1.realtime': kind('websocket', api('GET', '/v1/realtime', 'client', 'none', 'Live voice over WebSocket')),

  health: api('GET', '/api/health', 'open', 'none', 'Liveness check'),
  'health.system': api('GET', '/api/health/system', 'open', 'none', 'Health checks of all components'),
  metrics: kind('text', api('GET', '/api/metrics/prometheus', 'open', 'none', 'Prometheus metrics')),
  'config.urls': api('GET', '/api/config/urls', 'open', 'none', 'Addresses of API, dashboard and companion'),
  setup: api('GET', '/api/setup', 'bootstrap', 'none', 'First-run state'),
  'setup.probe': api('POST', '/api/setup/probe', 'bootstrap', 'none', 'First run: probe the hardware again'),
  'setup.apply': api(
    'POST',
    '/api/setup/apply',
    'bootstrap',
    'api',
    'First run: download models and set who can reach the gateway',
  ),

  status: api('GET', '/api/status', 'client', 'none', 'Overview of the gateway'),
  slots: api('GET', '/api/slots', 'client', 'none', 'All slots with their states'),
  slot: api('GET', '/api/slots/:name', 'client', 'none', 'One slot'),
  upstreams: api(
    'GET',
    '/api/upstreams',
    'client',
    'none',
    'Upstreams (other servers that serve models) with their health',
  ),
  models: api('GET', '/api/models', 'client', 'none', 'Registered models'),
  agent: api('GET', '/api/agent', 'client', 'none', 'The model of slot agent, and a larger one'),
  'model.names': api('GET', '/api/models/names', 'client', 'none', 'Aliases and presets of config.toml'),
  'model.catalog': api(
    'GET',
    '/api/models/catalog',
    'client',
    'none',
    'Recommended models, and whether they fit this machine',
  ),
  pulls: api('GET', '/api/pulls', 'client', 'none', 'Downloads of models'),
  hardware: api('GET', '/api/hardware', 'client', 'none', 'Devices and memory'),
  usage: api('GET', '/api/usage', 'client', 'none', 'Requests and tokens per day, tier and model'),
  'usage.minutes': api(
    'GET',
    '/api/usage/minutes',
    'client',
    'none',
    'Requests and time to first byte of each minute of the last hour',
  ),
  openapi: api('GET', '/api/openapi.json', 'client', 'none', 'OpenAPI 3.1 description'),
  events: kind('sse', api('GET', '/api/events', 'client', 'none', 'Live events')),
  'images.cache': kind(
    'image',
    api('GET', '/api/images/cache/:uuid.png', 'client', 'none', 'A generated image'),
  ),
  'dispatch.explain': api(
    'POST',
    '/api/dispatch/explain',
    'client',
    'api',
    'Explain routing: dry run of a dispatch decision',
  ),

  'slot.load': api('POST', '/api/slots/:name/load', 'admin', 'none', 'Load the model of a slot'),
  'slot.unload': api('POST', '/api/slots/:name/unload', 'admin', 'none', 'Unload a slot'),
  'slot.restart': api('POST', '/api/slots/:name/restart', 'admin', 'none', 'Restart a slot'),
  'upstream.create': api('POST', '/api/upstreams', 'admin', 'api', 'Add an upstream'),
  upstream: api('GET', '/api/upstreams/:name', 'admin', 'none', 'One upstream with its models'),
  'upstream.put': api('PUT', '/api/upstreams/:name', 'admin', 'api', 'Change an upstream'),
  'upstream.remove': api('DELETE', '/api/upstreams/:name', 'admin', 'none', 'Remove an upstream'),
  'upstream.test': api(
    'POST',
    '/api/upstreams/:name/test',
    'admin',
    'api',
    'Test an upstream with real calls',
  ),
  'catalog.update': api('PUT', '/api/models/catalog', 'admin', 'api', 'Load a newer catalogue'),
  'catalog.reset': api(
    'DELETE',
    '/api/models/catalog',
    'admin',
    'none',
    'Restore the catalogue of this version',
  ),
  'model.bench': api('POST', '/api/models/bench', 'admin', 'api', 'Measure the speed of a chat model'),
  'model.search': api('GET', '/api/models/search', 'admin', 'none', 'Search the model hub'),
  'model.choices': api('GET', '/api/models/choices', 'admin', 'none', 'Models of one repository of the hub'),
  'model.pull': api('POST', '/api/models/pull', 'admin', 'api', 'Download a model from the hub'),
  'model.register': api('POST', '/api/models/register', 'admin', 'api', 'Register a model file by its path'),
  'model.scan': api('POST', '/api/models/scan', 'admin', 'none', 'Scan the model folders again'),
  'model.put': api(
    'PUT',
    '/api/models/*id',
    'admin',
    'api',
    'Assign a model to a slot, or set its reasoning default',
  ),
  'model.remove': api('DELETE', '/api/models/*id', 'admin', 'none', 'Remove a model'),
  'pull.cancel': api(
    'POST',
    '/api/pulls/:id/cancel',
    'admin',
    'none',
    'Cancel a download and delete its files',
  ),
  'pull.pause': api('POST', '/api/pulls/:id/pause', 'admin', 'none', 'Pause a download'),
  'pull.resume': api('POST', '/api/pulls/:id/resume', 'admin', 'none', 'Resume a download'),
  'agent.put': api('PUT', '/api/agent', 'admin', 'api', 'Choose the model of slot agent'),
  'slot.create': api('POST', '/api/slots', 'admin', 'api', 'Add a slot'),
  'slot.change': api('PUT', '/api/slots/:name', 'admin', 'api', 'Change settings of a slot'),
  'slot.workflow': api(
    'PUT',
    '/api/slots/:name/workflow',
    'admin',
    'api',
    'Set the workflow of a ComfyUI slot',
  ),
  'slot.remove': api('DELETE', '/api/slots/:name', 'admin', 'none', 'Remove a slot and its file'),
  'slot.swap': api('POST', '/api/slots/:name/swap', 'admin', 'api', 'Change the model of a slot'),
  'slot.logs': kind(
    'sse',
    api('GET', '/api/slots/:name/logs', 'admin', 'none', 'Live log of the engine of a slot'),
  ),
  'slot.settings': api(
    'GET',
    '/api/slots/:name/settings',
    'admin',
    'none',
    'Settings of a slot with their sources',
  ),
  'slot.plan': api(
    'GET',
    '/api/slots/:name/plan',
    'admin',
    'none',
    'Launch plan of a slot: command and memory estimate',
  ),
  'kv-cache': api('GET', '/api/kv-cache', 'admin', 'none', 'Saved states of conversations'),
  'kv-cache.clear': api('DELETE', '/api/kv-cache', 'admin', 'none', 'Delete saved states of conversations'),
  'hardware.probe': api('POST', '/api/hardware/probe', 'admin', 'none', 'Probe the hardware again'),
  settings: api('GET', '/api/settings', 'admin', 'none', 'Every setting with its source'),
  'settings.put': api('PUT', '/api/settings', 'admin', 'api', 'Change settings'),
  'secret.put': api(
    'PUT',
    '/api/settings/secrets/:name',
    'admin',
    'auth',
    'Set the key of an upstream or the hub token, without a way to read it',
  ),
  audit: api('GET', '/api/audit', 'admin', 'none', 'Audit trail'),
  requests: api('GET', '/api/requests', 'admin', 'none', 'Recent and running requests'),
  request: api('GET', '/api/requests/:id', 'admin', 'none', 'One request'),
  'request.cancel': api('POST', '/api/requests/:id/cancel', 'admin', 'none', 'Cancel a running request'),
  logs: kind('sse', api('GET', '/api/logs', 'admin', 'none', 'Live log of the gateway')),

  'memory.delete.many': api('POST', '/api/memory/delete', 'admin', 'api', 'Delete memories by id'),
  'memory.delete.one': api('DELETE', '/api/memory/:id', 'admin', 'none', 'Delete one memory'),
  'memory.delete.all': api('DELETE', '/api/memory', 'admin', 'none', 'Delete the whole memory store'),
  'memory.search': api('POST', '/api/memory/search', 'memory', 'api', 'Search memories'),
  'memory.add': api('POST', '/api/memory', 'memory', 'api', 'Add a memory'),
  'memory.list': api('GET', '/api/memory', 'memory', 'none', 'List memories'),
  'memory.get': api('GET', '/api/memory/:id', 'memory', 'none', 'One memory'),

  'ui.root': shell('/', 'Dashboard'),
  'ui.login': shell('/login', 'Dashboard: log in'),
  'ui.setup': shell('/setup', 'Dashboard: setup'),
  'ui.overview': shell('/overview', 'Dashboard: overview'),
  'ui.playground': shell('/playground', 'Dashboard: playground'),
  'ui.playground.mode': shell('/playground/:mode', 'Dashboard: a mode of the playground'),
  'ui.slots': shell('/slots', 'Dashboard: slots'),
  'ui.slots.tab': shell('/slots/:tab', 'Dashboard: a tab of slots'),
  'ui.models': shell('/models', 'Dashboard: models'),
  'ui.models.tab': shell('/models/:tab', 'Dashboard: a tab of models'),
  'ui.memory': shell('/memory', 'Dashboard: memory'),
  'ui.requests': shell('/requests', 'Dashboard: requests'),
  'ui.requests.tab': shell('/requests/:tab', 'Dashboard: a tab of requests'),
  'ui.hardware': shell('/hardware', 'Dashboard: hardware'),
  'ui.security': shell('/security', 'Dashboard: security'),
  'ui.security.tab': shell('/security/:tab', 'Dashboard: a tab of security'),
  'ui.settings': shell('/settings', 'Dashboard: settings'),
  'ui.settings.tab': shell('/settings/:tab', 'Dashboard: a tab of settings'),
  'ui.asset': shell('/assets/:file', 'Dashboard: built assets'),
  'ui.favicon.svg': shell('/favicon.svg', 'Icon'),
  'ui.favicon.ico': shell('/favicon.ico', 'Icon'),
  'ui.manifest': shell('/manifest.webmanifest', 'Web manifest'),

  'hint.root.get': hint('GET', '/v1'),
  'hint.root.slash': hint('GET', '/v1/'),
  'hint.twice.get': hint('GET', '/v1/v1/*path'),
  'hint.twice.post': hint('POST', '/v1/v1/*path'),
  'hint.slashes.get': hint('GET', '/v1//*path'),
  'hint.slashes.post': hint('POST', '/v1//*path'),
  'hint.slash.get': hint('GET', '/v1/*path/'),
  'hint.slash.post': hint('POST', '/v1/*path/'),
  'hint.azure.get': hint('GET', '/openai/*path'),
  'hint.azure.post': hint('POST', '/openai/*path'),
  'hint.chat': hint('POST', '/chat/completions'),
  'hint.responses': hint('POST', '/responses'),
  'hint.messages': hint('POST', '/messages'),
  'hint.messages.count': hint('POST', '/messages/count_tokens'),
  'hint.completions': hint('POST', '/completions'),
  'hint.embeddings': hint('POST', '/embeddings'),
  'hint.rerank': hint('POST', '/rerank'),
  'hint.score': hint('POST', '/score'),
  'hint.audio': hint('POST', '/audio/*path'),
  'hint.images': hint('POST', '/images/*path'),
  'hint.ollama.tags': ollama('GET', '/api/tags'),
  'hint.ollama.version': ollama('GET', '/api/version'),
  'hint.ollama.ps': ollama('GET', '/api/ps'),
  'hint.ollama.chat': ollama('POST', '/api/chat'),
  'hint.ollama.generate': ollama('POST', '/api/generate'),
  'hint.ollama.show': ollama('POST', '/api/show'),
  'hint.ollama.embed': ollama('POST', '/api/embed'),
  'hint.ollama.embeddings': ollama('POST', '/api/embeddings'),
  'hint.ollama.pull': ollama('POST', '/api/pull'),
  'hint.ollama.push': ollama('POST', '/api/push'),
  'hint.ollama.create': ollama('POST', '/api/create'),
  'hint.ollama.copy': ollama('POST', '/api/copy'),
  'hint.ollama.delete': ollama('DELETE', '/api/delete'),
} as const satisfies Record<string, RouteRow>;

export type RouteId = keyof typeof ROUTES;

/** The meaning of each class (docs/spec/specification.md#route-classes). */
export const CLASS_MEANINGS: Record<AuthClass, string> = {
  open: 'no authentication',
  bootstrap: 'open until an admin key exists, then treated as admin',
  client: 'client tier or above',
  admin: 'admin tier only',
};

/** A row with its id: what a request is matched to. */
export type MatchedRoute = RouteRow & { readonly id: RouteId };

/** All rows with their ids, in evaluation order. */
export function routeRows(): readonly MatchedRoute[] {
  return (Object.keys(ROUTES) as RouteId[]).map((id) => ({ id, ...(ROUTES[id] as RouteRow) }));
}
