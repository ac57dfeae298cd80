import type { ZodType } from 'zod';
import { AudioModelsResponse, VoicesResponse } from './audio.ts';
import * as auth from './auth.ts';
import { CatalogResponse } from './catalog.ts';
import { HardwareResponse } from './hardware.ts';
import { ImagesResponse } from './images.ts';
import * as models from './models.ts';
import * as pulls from './pulls.ts';
import type { RouteId } from './routes.ts';
import * as setup from './setup.ts';
import {
  SlotCreate,
  SlotPlan,
  SlotRemoved,
  SlotSettings,
  SlotSwap,
  SlotsResponse,
  SlotView,
} from './slots.ts';
import * as system from './system.ts';
import * as upstreams from './upstreams.ts';

/** What the body of a row must look like; rows that are not here take no JSON body of ours. */
export const REQUEST_SCHEMAS: Partial<Record<RouteId, ZodType>> = {
  'auth.login': auth.LoginRequest,
  'auth.require': auth.RequireRequest,
  'auth.rotate': auth.RotateRequest,
  'settings.put': system.SettingsPut,
  'setup.apply': setup.SetupApply,
  'dispatch.explain': system.ExplainRequest,
  'upstream.create': upstreams.UpstreamCreate,
  'upstream.put': upstreams.UpstreamPut,
  'upstream.test': upstreams.UpstreamTestRequest,
  'model.put': models.ModelPut,
  'model.pull': pulls.PullRequest,
  'model.register': models.ModelRegister,
  'slot.create': SlotCreate,
  'slot.change': SlotSettings,
  'slot.swap': SlotSwap,
  'memory.add': system.MemoryAdd,
  'memory.search': system.MemorySearch,
  'memory.delete.many': system.MemoryDelete,
};

/** What a row answers on success, where it is JSON of ours. */
export const RESPONSE_SCHEMAS: Partial<Record<RouteId, ZodType>> = {
  'auth.login': auth.LoginResponse,
  'auth.logout': auth.LogoutResponse,
  'auth.status': auth.StatusResponse,
  'auth.require': auth.RequireResponse,
  'auth.rotate': auth.RotateResponse,
  'auth.exposure': auth.ExposureResponse,
  'auth.sessions': auth.SessionsResponse,
  'auth.sessions.end': auth.EndSessionsResponse,
  'v1.models': models.V1ModelList,
  'v1.model': models.V1Model,
  'v1.images': ImagesResponse,
  'v1.audio.voices': VoicesResponse,
  'v1.audio.models': AudioModelsResponse,
  health: system.HealthResponse,
  'health.system': system.SystemHealthResponse,
  'config.urls': system.UrlsResponse,
  setup: setup.SetupResponse,
  'setup.probe': setup.SetupResponse,
  'setup.apply': setup.SetupResponse,
  status: system.StatusOverview,
  slots: SlotsResponse,
  slot: SlotView,
  'slot.load': SlotView,
  'slot.unload': SlotView,
  'slot.restart': SlotView,
  upstreams: upstreams.UpstreamsResponse,
  upstream: upstreams.UpstreamView,
  'upstream.create': upstreams.UpstreamView,
  'upstream.put': upstreams.UpstreamView,
  'upstream.remove': upstreams.UpstreamRemoved,
  'upstream.test': upstreams.UpstreamTestResponse,
  models: models.ModelsResponse,
  'model.put': models.ModelView,
  'model.catalog': CatalogResponse,
  'model.search': pulls.SearchResponse,
  'model.pull': pulls.PullView,
  'model.register': models.ModelView,
  'model.scan': models.ScanResponse,
  'model.remove': models.ModelRemoved,
  pulls: pulls.PullsResponse,
  'pull.cancel': pulls.PullView,
  'pull.pause': pulls.PullView,
  'pull.resume': pulls.PullView,
  'slot.create': SlotView,
  'slot.change': SlotView,
  'slot.remove': SlotRemoved,
  'slot.swap': SlotView,
  'slot.plan': SlotPlan,
  usage: system.UsageResponse,
  'usage.minutes': system.UsageMinutesResponse,
  hardware: HardwareResponse,
  'hardware.probe': HardwareResponse,
  'dispatch.explain': system.ExplainResponse,
  settings: system.SettingsResponse,
  'settings.put': system.SettingsResponse,
  audit: system.AuditResponse,
  requests: system.RequestsResponse,
  request: system.RequestDetail,
  'request.cancel': system.RequestDetail,
  'memory.add': system.MemoryView,
  'memory.get': system.MemoryView,
  'memory.list': system.MemoryListResponse,
  'memory.search': system.MemorySearchResponse,
  'memory.delete.one': system.DeletedResponse,
  'memory.delete.many': system.DeletedResponse,
  'memory.delete.all': system.DeletedResponse,
};
