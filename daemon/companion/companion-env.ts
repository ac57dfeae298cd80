import { join } from 'node:path';
import { isLoopback } from '../lib/net/addresses.ts';
import { SETTINGS, type SettingName, type SettingValue } from '../settings/catalogue.ts';
import { describeEnvFile, parseEnvFile } from '../settings/env-file.ts';
import type { Resolved } from '../settings/precedence.ts';
import { limitProblems, type Problem } from '../settings/problem.ts';
import { readFileCapped } from '../settings/read-file.ts';
import { flag } from '../settings/setting-types.ts';

export const COMPANION_FILE = 'companion.env';
/** Maximum size of companion.env in bytes. */
const CAP = 256 << 10;
const FLAG = flag();

/**
 * Returns whether a switch of Open WebUI is on. Open WebUI accepts only `true` and treats every other word as
 * off, blanks too. This function accepts the common words, and `containerEnv` passes `True` for them.
 */
export function isOn(text: string): boolean {
  const read = FLAG.fromText(text);
  return read.ok && read.value;
}

/** The settings of the chat UI in companion.env. Missing values come from the gateway's settings. */
export interface CompanionPlan {
  /** All its variables, including those of the gateway. */
  readonly variables: ReadonlyMap<string, string>;
  readonly bindHost: string;
  readonly port: number;
  /** Whether only this machine reaches its port. */
  readonly isLoopback: boolean;
  /** Whether its users must sign in. */
  readonly signIn: boolean;
  /** Whether it trusts a header that names the user. */
  readonly trustsHeader: boolean;
  /** Its public address, if it differs from its port. */
  readonly publicUrl: string | null;
  /** Invalid lines and values of the file. */
  readonly problems: readonly Problem[];
}

export interface CompanionSettings {
  value<N extends SettingName>(name: N): SettingValue<N>;
  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>>;
}

/** Returns a setting from companion.env, then the gateway's environment, then the given default. */
function settingOf<N extends 'companionBindHost' | 'companionPort'>(
  variables: ReadonlyMap<string, string>,
  settings: CompanionSettings,
  name: N,
  otherwise: SettingValue<N>,
): SettingValue<N> {
  const { env, type: kind } = SETTINGS[name];
  const text = variables.get(env ?? '')?.trim() ?? '';
  const read = text === '' ? null : kind.fromText(text);
  if (read?.ok) return read.value as SettingValue<N>;
  const { source, value } = settings.resolve(name);
  return source === 'default' ? otherwise : value;
}

const httpUrl = (text: string | undefined): string | null =>
  text !== undefined && /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text).href : null;

/**
 * Reads companion.env (docs/spec/contract.md#companion-env). Its bind address defaults to that of the API.
 * Sign-in is on unless it is turned off.
 */
export function companionPlan(bytes: Uint8Array, settings: CompanionSettings): CompanionPlan {
  const variables = parseEnvFile(bytes);
  const bindHost = settingOf(variables, settings, 'companionBindHost', settings.value('bindHost'));
  return {
    variables,
    bindHost,
    port: settingOf(variables, settings, 'companionPort', SETTINGS.companionPort.default),
    isLoopback: bindHost === 'localhost' || isLoopback(bindHost),
    signIn: isOn(variables.get('WEBUI_AUTH') ?? 'True'),
    trustsHeader: (variables.get('WEBUI_AUTH_TRUSTED_EMAIL_HEADER')?.trim() ?? '') !== '',
    publicUrl: httpUrl(variables.get('WEBUI_URL')?.trim()),
    problems: problemsIn(bytes, variables),
  };
}

/**
 * Validators of the variables that are read here. They return the problem, or null. A blank value of an SVC_
 * variable counts as unset.
 */
const VALIDATORS: Readonly<Record<string, (text: string) => string | null>> = {
  SVC_OWUI_PORT: validatorOf('companionPort'),
  SVC_OWUI_BIND_HOST: validatorOf('companionBindHost'),
  WEBUI_AUTH: (text) => {
    const read = FLAG.fromText(text);
    return read.ok ? null : `${read.reason}; the chat UI treats it as off`;
  },
  WEBUI_URL: (text) =>
    text.trim() === '' || httpUrl(text.trim()) !== null ? null : 'must be an address of http or https',
};

function validatorOf(name: 'companionBindHost' | 'companionPort'): (text: string) => string | null {
  const { type: kind } = SETTINGS[name];
  return (text) => {
    const read = text.trim() === '' ? null : kind.fromText(text.trim());
    return read === null || read.ok ? null : read.reason;
  };
}

function problemsIn(bytes: Uint8Array, variables: ReadonlyMap<string, string>): Problem[] {
  const { notes, lines } = describeEnvFile(bytes);
  const unread = notes.map(({ line, message }) => ({ file: COMPANION_FILE, line, message }));
  const wrong = Object.entries(VALIDATORS).flatMap(([name, judge]) => {
    const text = variables.get(name);
    const reason = text === undefined ? null : judge(text);
    const line = lines.get(name) ?? null;
    return reason === null ? [] : [{ file: COMPANION_FILE, line, message: `${name}: ${reason}` }];
  });
  return limitProblems([...unread, ...wrong]);
}

/** The plan of this configuration folder; null without a companion.env that can be read. Never throws. */
export async function readCompanionPlan(
  folder: string,
  settings: CompanionSettings,
): Promise<CompanionPlan | null> {
  const read = await readFileCapped(join(folder, COMPANION_FILE), CAP);
  return read.kind === 'bytes' ? companionPlan(read.bytes, settings) : null;
}
