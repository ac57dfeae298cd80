import type { VoiceList } from '../../daemon/contract/audio.ts';
import type {
  EndSessionsResponse,
  ExposureView,
  LoginResponse,
  LogoutResponse,
  RequireView,
  RotateView,
  SessionRow,
  StatusView,
} from '../../daemon/contract/auth.ts';
import type { CatalogView } from '../../daemon/contract/catalog.ts';
import type { HardwareView } from '../../daemon/contract/hardware.ts';
import type { ImagesResponse } from '../../daemon/contract/images.ts';
import type { KvCacheCleared, KvCacheView } from '../../daemon/contract/kv-cache.ts';
import type {
  AgentView,
  ModelNamesResponse,
  ModelRemoved,
  ModelsResponse,
  ModelWithMemory,
  ScanResponse,
  V1ModelList,
} from '../../daemon/contract/models.ts';
import type {
  HubChoicesView,
  PullRecord,
  PullsResponse,
  SearchResponse,
} from '../../daemon/contract/pulls.ts';
import type { SetupView } from '../../daemon/contract/setup.ts';
import type {
  SlotPlanView,
  SlotRecord,
  SlotRemoved,
  SlotSettingsView,
  SlotsResponse,
} from '../../daemon/contract/slots.ts';
import type {
  AuditResponse,
  DeletedResponse,
  ExplainView,
  HealthResponse,
  MemoryFound,
  MemoryListResponse,
  MemoryRecord,
  RequestsResponse,
  RequestWholeView,
  SecretView,
  SettingsResponse,
  StatusOverviewView,
  SystemHealthView,
  UrlsResponse,
  UsageMinutesResponse,
  UsageView,
} from '../../daemon/contract/system.ts';
import type {
  UpstreamRecord,
  UpstreamRemoved,
  UpstreamsResponse,
  UpstreamTestView,
} from '../../daemon/contract/upstreams.ts';

type Parsed<Schema extends { parse(value: unknown): unknown }> = ReturnType<Schema['parse']>;

/** Response types of the routes that the dashboard calls. A route that is missing here cannot be called. */
export interface Responses {
  'auth.login': Parsed<typeof LoginResponse>;
  'auth.logout': Parsed<typeof LogoutResponse>;
  'auth.status': StatusView;
  'auth.require': RequireView;
  'auth.rotate': RotateView;
  'auth.exposure': ExposureView;
  'auth.sessions': SessionRow[];
  'auth.sessions.end': Parsed<typeof EndSessionsResponse>;
  'v1.models': Parsed<typeof V1ModelList>;
  'v1.audio.voices': VoiceList;
  'v1.images': Parsed<typeof ImagesResponse>;
  health: Parsed<typeof HealthResponse>;
  'health.system': SystemHealthView;
  'config.urls': Parsed<typeof UrlsResponse>;
  status: StatusOverviewView;
  slots: Parsed<typeof SlotsResponse>;
  'slot.load': SlotRecord;
  'slot.unload': SlotRecord;
  'slot.restart': SlotRecord;
  'slot.swap': SlotRecord;
  'slot.create': SlotRecord;
  'slot.change': SlotRecord;
  'slot.workflow': SlotRecord;
  'slot.remove': Parsed<typeof SlotRemoved>;
  'slot.settings': SlotSettingsView;
  'kv-cache': KvCacheView;
  'kv-cache.clear': KvCacheCleared;
  'slot.plan': SlotPlanView;
  models: Parsed<typeof ModelsResponse>;
  setup: SetupView;
  'setup.probe': SetupView;
  'setup.apply': SetupView;
  'model.catalog': CatalogView;
  'model.choices': HubChoicesView;
  'catalog.update': CatalogView;
  'catalog.reset': CatalogView;
  'model.search': Parsed<typeof SearchResponse>;
  'model.pull': PullRecord;
  'model.register': ModelWithMemory;
  'model.scan': Parsed<typeof ScanResponse>;
  'model.put': ModelWithMemory;
  'model.remove': Parsed<typeof ModelRemoved>;
  pulls: Parsed<typeof PullsResponse>;
  'pull.pause': PullRecord;
  'pull.resume': PullRecord;
  'pull.cancel': PullRecord;
  upstreams: Parsed<typeof UpstreamsResponse>;
  upstream: UpstreamRecord;
  'upstream.create': UpstreamRecord;
  'upstream.put': UpstreamRecord;
  'upstream.remove': Parsed<typeof UpstreamRemoved>;
  'upstream.test': UpstreamTestView;
  hardware: HardwareView;
  'hardware.probe': HardwareView;
  requests: Parsed<typeof RequestsResponse>;
  request: RequestWholeView;
  'request.cancel': RequestWholeView;
  usage: UsageView;
  'usage.minutes': Parsed<typeof UsageMinutesResponse>;
  'dispatch.explain': ExplainView;
  agent: AgentView;
  'agent.put': AgentView;
  'model.names': Parsed<typeof ModelNamesResponse>;
  settings: Parsed<typeof SettingsResponse>;
  'settings.put': Parsed<typeof SettingsResponse>;
  'secret.put': SecretView;
  audit: Parsed<typeof AuditResponse>;
  'memory.list': Parsed<typeof MemoryListResponse>;
  'memory.search': MemoryFound;
  'memory.add': MemoryRecord;
  'memory.delete.one': Parsed<typeof DeletedResponse>;
  'memory.delete.many': Parsed<typeof DeletedResponse>;
  'memory.delete.all': Parsed<typeof DeletedResponse>;
}
export type CallableId = keyof Responses;
