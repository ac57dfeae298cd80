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
import type { HardwareView } from '../../daemon/contract/hardware.ts';
import type { ModelsResponse, ModelWithMemory, V1ModelList } from '../../daemon/contract/models.ts';
import type { SetupView } from '../../daemon/contract/setup.ts';
import type { SlotPlanView, SlotRecord, SlotRemoved, SlotsResponse } from '../../daemon/contract/slots.ts';
import type {
  AuditResponse,
  ExplainView,
  HealthResponse,
  RequestRecord,
  RequestsResponse,
  SettingsResponse,
  StatusOverviewView,
  SystemHealthView,
  UsageView,
} from '../../daemon/contract/system.ts';
import type {
  UpstreamRecord,
  UpstreamRemoved,
  UpstreamsResponse,
  UpstreamTestView,
} from '../../daemon/contract/upstreams.ts';

type Parsed<Schema extends { parse(value: unknown): unknown }> = ReturnType<Schema['parse']>;

/** What the routes that this dashboard calls answer; a route that is missing here cannot be called. */
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
  health: Parsed<typeof HealthResponse>;
  'health.system': SystemHealthView;
  status: StatusOverviewView;
  slots: Parsed<typeof SlotsResponse>;
  'slot.load': SlotRecord;
  'slot.unload': SlotRecord;
  'slot.restart': SlotRecord;
  'slot.swap': SlotRecord;
  'slot.create': SlotRecord;
  'slot.change': SlotRecord;
  'slot.remove': Parsed<typeof SlotRemoved>;
  'slot.plan': SlotPlanView;
  models: Parsed<typeof ModelsResponse>;
  'model.register': ModelWithMemory;
  setup: SetupView;
  'setup.probe': SetupView;
  'setup.apply': SetupView;
  upstreams: Parsed<typeof UpstreamsResponse>;
  upstream: UpstreamRecord;
  'upstream.create': UpstreamRecord;
  'upstream.put': UpstreamRecord;
  'upstream.remove': Parsed<typeof UpstreamRemoved>;
  'upstream.test': UpstreamTestView;
  hardware: HardwareView;
  'hardware.probe': HardwareView;
  requests: Parsed<typeof RequestsResponse>;
  request: RequestRecord;
  'request.cancel': RequestRecord;
  usage: UsageView;
  'dispatch.explain': ExplainView;
  settings: Parsed<typeof SettingsResponse>;
  'settings.put': Parsed<typeof SettingsResponse>;
  audit: Parsed<typeof AuditResponse>;
}
export type CallableId = keyof Responses;
