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
import type { V1ModelList } from '../../daemon/contract/models.ts';
import type { SlotsResponse } from '../../daemon/contract/slots.ts';
import type {
  HealthResponse,
  SettingsResponse,
  StatusOverviewView,
  SystemHealthView,
} from '../../daemon/contract/system.ts';

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
  hardware: HardwareView;
  settings: Parsed<typeof SettingsResponse>;
}
export type CallableId = keyof Responses;
