import { z } from 'zod';

/** The three tiers in ascending order of privilege (docs/spec/specification.md#tiers). */
export const TIERS = ['anon', 'client', 'admin'] as const;
export type Tier = (typeof TIERS)[number];

/** Route classes (docs/spec/specification.md#route-classes). */
export const AUTH_CLASSES = ['open', 'bootstrap', 'client', 'admin'] as const;
export type AuthClass = (typeof AUTH_CLASSES)[number];

export const LoginRequest = z.object({ key: z.string() });
export const LoginResponse = z.object({ ok: z.literal(true), tier: z.literal('admin') });
export const LogoutResponse = z.object({ ok: z.literal(true) });

export const StatusResponse = z.object({
  auth_required: z.boolean(),
  has_admin_key: z.boolean(),
  tier: z.enum(TIERS),
});

export const RequireRequest = z.object({ require_auth: z.boolean() });
export const SettingSource = z.enum(['env', 'file', 'default']);
export const RequireResponse = z.object({
  require_auth: z.boolean(),
  persisted: z.boolean().nullable(),
  source: SettingSource,
  applies_live: z.literal(true),
});

export const RotateRequest = z.object({ tier: z.enum(['admin', 'client']).default('admin') });
export const RotateResponse = z.object({
  tier: z.enum(['admin', 'client']),
  key_len: z.number().int(),
  fingerprint: z.string().regex(/^[0-9a-f]{8}$/),
  rotated_at: z.string(),
  applies_live: z.boolean(),
  restart_required: z.boolean(),
  session_preserved: z.boolean(),
  note: z.string(),
});

export const ExposureRule = z.object({
  id: z.string(),
  label: z.string(),
  auth_class: z.enum(AUTH_CLASSES),
  methods: z.array(z.string()),
  pattern: z.string(),
  kind: z.string(),
  summary: z.string(),
});
export const ExposureResponse = z.object({
  classes: z.array(z.object({ name: z.enum(AUTH_CLASSES), meaning: z.string() })),
  rules: z.array(ExposureRule),
  open_allowlist: z.array(z.object({ method: z.string(), path: z.string() })),
  enforcement: z.object({ require_auth: z.boolean(), source: SettingSource }),
  listener: z.object({ bind_host: z.string(), port: z.number().int(), loopback: z.boolean() }),
  /**
   * Origins of web pages that were refused since the start and that no setting allows, the last one first. A browser does
   * not show the page why.
   */
  refused_origins: z.array(z.object({ origin: z.string(), last_at: z.number(), count: z.number().int() })),
});

export const SessionView = z.object({
  id8: z.string(),
  created_at: z.number().int(),
  expires_at: z.number().int(),
  current: z.boolean(),
});
export const SessionsResponse = z.array(SessionView);
export const EndSessionsResponse = z.object({ ok: z.literal(true) });

export type LoginBody = z.infer<typeof LoginRequest>;
export type StatusView = z.infer<typeof StatusResponse>;
export type RequireView = z.infer<typeof RequireResponse>;
export type RotateView = z.infer<typeof RotateResponse>;
export type ExposureView = z.infer<typeof ExposureResponse>;
export type ExposureRuleView = z.infer<typeof ExposureRule>;
export type SessionRow = z.infer<typeof SessionView>;
