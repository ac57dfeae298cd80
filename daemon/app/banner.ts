import type { SlotRecord } from '../contract/slots.ts';
import { wildcardFamily } from '../lib/net/addresses.ts';

/** The contents of the start banner. */
export interface BannerInfo {
  name: string;
  version: string;
  bindHost: string;
  port: number;
  loopback: boolean;
  folders: { config: string; state: string };
  /** The configuration folder cannot be written. */
  isConfigReadOnly: boolean;
  enforcement: { require_auth: boolean; source: 'env' | 'file' | 'default' };
  hasAdminKey: boolean;
  slots: readonly SlotRecord[];
  problems: readonly { file: string; line: number | null; message: string }[];
}

const SOURCES = { env: 'from the environment', file: 'from config.toml', default: 'the default' } as const;

/** Returns the URL for users. An unspecified bind address is reached through loopback. */
export function reachableUrl(bindHost: string, port: number): string {
  const host = wildcardFamily(bindHost) === null ? bindHost : '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function slotLine(slot: SlotRecord): string {
  const missing = slot.model_missing;
  if (missing !== undefined) return `${slot.name}: model ${missing} is missing`;
  const model =
    slot.model === null ? 'no model' : slot.demo ? `${slot.model} (built-in demonstration)` : slot.model;
  return `${slot.name}: ${model}, ${slot.engine}, ${slot.device ?? slot.state}`;
}

/** Maximum number of automatic slots that are listed by name. */
const MAX_AUTO_SLOTS_SHOWN = 6;

function slotLines(slots: readonly SlotRecord[]): string[] {
  const automatic = slots.filter(({ auto }) => auto);
  const lines = [...slots.filter(({ auto }) => !auto), ...automatic.slice(0, MAX_AUTO_SLOTS_SHOWN)].map(
    slotLine,
  );
  if (automatic.length <= MAX_AUTO_SLOTS_SHOWN) return lines;
  return [
    ...lines,
    `and ${automatic.length - MAX_AUTO_SLOTS_SHOWN} more, each loaded on the first request for its model`,
  ];
}

function enforcementLine(info: BannerInfo): string {
  const { require_auth, source } = info.enforcement;
  const state = `${require_auth ? 'on' : 'off'} (${SOURCES[source]})`;
  if (require_auth && !info.hasAdminKey) {
    return `${state}\n  ! No admin key is set, so only open routes answer. Put SVC_ADMIN_KEY=<key> into api.env.`;
  }
  return state;
}

/** Returns the start text: the address, the folders, who may call the gateway, and a command to try. */
export function banner(info: BannerInfo): string {
  const address = reachableUrl(info.bindHost, info.port);
  const key = info.enforcement.require_auth ? " -H 'authorization: Bearer <key>'" : '';
  const body = '{"model":"agent","messages":[{"role":"user","content":"Hello"}]}';
  const lines = [
    `${info.name} ${info.version}`,
    `  Address        ${address}/v1`,
    `  Dashboard      ${address}/`,
    `  Configuration  ${info.folders.config}${info.isConfigReadOnly ? ' (read-only)' : ''}`,
    `  State          ${info.folders.state}`,
    `  Enforcement    ${enforcementLine(info)}`,
    `  Slots          ${slotLines(info.slots).join('\n                 ') || 'none'}`,
    ...info.problems.map(
      ({ file, line, message }) => `  ! ${file}${line === null ? '' : `:${line}`}: ${message}`,
    ),
  ];
  if (!info.loopback && !info.enforcement.require_auth) {
    lines.push(
      '  ! The gateway listens on the network and no key is required: anyone who reaches it can use it.',
    );
    lines.push(
      '    Run svcctl auth rotate admin, then svcctl auth require on (in a checkout: scripts/svcctl).',
    );
  }
  lines.push(
    '',
    `  Try: curl ${address}/v1/chat/completions -H 'content-type: application/json'${key} -d '${body}'`,
    '',
  );
  return `${lines.join('\n')}\n`;
}
