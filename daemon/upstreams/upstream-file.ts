import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { UPSTREAM_FIELDS, type UpstreamKind, UpstreamName } from '../contract/upstreams.ts';
import { zodMessage } from '../contract/zod-message.ts';
import { runSyncWithTimeout } from '../lib/async/run-with-timeout.ts';
import { tomlReason } from '../settings/config-text.ts';
import { keyLines } from '../settings/key-lines.ts';
import type { Problem } from '../settings/problem.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';

/** Maximum size of an upstream file in bytes. */
export const UPSTREAM_FILE_CAP = 64 * 1024;
const PARSE_LIMIT_MS = 1000;

const { base_url, ...others } = UPSTREAM_FIELDS;

/** `upstreams/NAME.toml`. */
const UpstreamFile = z.object({
  base_url: base_url.transform((text, context): BaseUrl => {
    const found = parseBaseUrl(text);
    if (typeof found !== 'string') return found;
    context.addIssue({ code: 'custom', message: found });
    return z.NEVER;
  }),
  ...z.object(others).partial().shape,
});
const KEYS: ReadonlySet<string> = new Set(Object.keys(UPSTREAM_FIELDS));

/** The configuration of one upstream. */
export interface UpstreamConfig {
  readonly name: string;
  readonly enabled: boolean;
  readonly at: BaseUrl;
  readonly kind: UpstreamKind;
  readonly keyEnv: string | null;
  readonly header: string | null;
  /** Whether it is a provider. */
  readonly remote: boolean;
  readonly priority: number;
  readonly weight: number;
  readonly localFirst: boolean;
  readonly dailyRequests: number | null;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** A fixed list of ids; null reads the upstream's list. */
  readonly models: readonly string[] | null;
  /** Whether it supports `stream_options.include_usage`. */
  readonly streamUsage: boolean;
  /** Whether it receives the name of the calling app. */
  readonly sendAppName: boolean;
  /** Whether it is probed while requests wait. */
  readonly hangProbe: boolean;
  readonly connectTimeoutS: number | null;
  readonly idleTimeoutS: number | null;
}

export interface ReadUpstream {
  /** Null: the file is broken. */
  readonly config: UpstreamConfig | null;
  readonly problems: readonly Problem[];
}

function toConfig(name: string, file: z.output<typeof UpstreamFile>): UpstreamConfig {
  return {
    name,
    enabled: file.enabled ?? true,
    at: file.base_url,
    kind: file.kind ?? 'openai',
    keyEnv: file.key_env ?? null,
    header: file.header ?? null,
    remote: file.remote ?? !file.base_url.isNear,
    priority: file.priority ?? 0,
    weight: file.weight ?? 1,
    localFirst: file.local_first ?? true,
    dailyRequests: file.daily_requests ?? null,
    include: file.include ?? [],
    exclude: file.exclude ?? [],
    models: file.models ?? null,
    streamUsage: file.stream_usage ?? true,
    sendAppName: file.send_app_name ?? false,
    hangProbe: file.hang_probe ?? true,
    connectTimeoutS: file.connect_timeout_s ?? null,
    idleTimeoutS: file.idle_timeout_s ?? null,
  };
}

type Table = { table: Record<string, unknown> } | { line: number | null; message: string };

function parseToml(text: string): Table {
  if (Buffer.byteLength(text) > UPSTREAM_FILE_CAP) return { line: null, message: 'is larger than 64 KiB' };
  try {
    return { table: runSyncWithTimeout(() => parse(text.replace(/^\ufeff/, '')), PARSE_LIMIT_MS) };
  } catch (cause) {
    if (!(cause instanceof TomlError)) return { line: null, message: 'cannot be read as TOML' };
    return { line: cause.line, message: tomlReason(cause) };
  }
}

/** Warnings for a usable file. */
function warningsFor(config: UpstreamConfig): [key: string, message: string][] {
  if (config.keyEnv === null || config.at.isNear || config.at.origin.startsWith('https:')) return [];
  return [['base_url', 'the key would cross the internet unencrypted; use https']];
}

/**
 * Parses one upstream file; `file` is its base name. A wrong value, an invalid name or broken TOML gives no
 * upstream and a problem with file, line and reason, never the value. An unknown key is reported and kept.
 */
export function readUpstreamFile(file: string, text: string): ReadUpstream {
  const name = file.replace(/\.toml$/, '');
  const place = `upstreams/${file}`;
  const problem = (message: string, line: number | null = null): Problem => ({ file: place, line, message });
  const named = UpstreamName.safeParse(name);
  if (!named.success) {
    return { config: null, problems: [problem(`the name: ${named.error.issues[0]?.message ?? ''}`)] };
  }
  const toml = parseToml(text);
  if (!('table' in toml)) return { config: null, problems: [problem(toml.message, toml.line)] };
  const lines = keyLines(text);
  const lineOf = (key: string): number | null => lines.get(key) ?? null;
  const unknown = Object.keys(toml.table)
    .filter((key) => !KEYS.has(key))
    .map((key) => problem(`unknown key "${key}" is ignored`, lineOf(key)));
  const read = UpstreamFile.safeParse(toml.table);
  if (!read.success) {
    const wrong = read.error.issues.map((issue) =>
      problem(`${issue.path.join('.')}: ${zodMessage(issue)}`, lineOf(String(issue.path[0] ?? ''))),
    );
    return { config: null, problems: [...wrong, ...unknown] };
  }
  const config = toConfig(name, read.data);
  const warnings = warningsFor(config).map(([key, message]) => problem(message, lineOf(key)));
  return { config, problems: [...warnings, ...unknown] };
}
