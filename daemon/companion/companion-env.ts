import { join } from 'node:path';
import { isLoopback } from '../auth/addresses.ts';
import { SETTINGS, type SettingName, type SettingValue } from '../settings/catalogue.ts';
import { describeEnvFile, parseEnvFile } from '../settings/env-file.ts';
import type { Resolved } from '../settings/precedence.ts';
import { limitProblems, type Problem } from '../settings/problem.ts';
import { readFileCapped } from '../settings/read-file.ts';
import { flag } from '../settings/setting-types.ts';

export const COMPANION_FILE = 'companion.env';
/** companion.env may have this many bytes. */
const CAP = 256 << 10;
const FLAG = flag();

/**
 * Whether a switch of Open WebUI is on, by the words that owners write. It takes `true` alone for on, and whatever it does not
 * know for off, blanks too: so do we, and give it `True` for the other words.
 */
export function isOn(text: string): boolean {
  const read = FLAG.fromText(text);
  return read.ok && read.value;
}

/** What companion.env says of the chat UI; what it leaves out comes from the settings. */
export interface CompanionPlan {
  /** Its variables, ours included. */
  readonly variables: ReadonlyMap<string, string>;
  readonly bindHost: string;
  readonly port: number;
  /** Whether only this machine reaches its port. */
  readonly isLoopback: boolean;
  /** Whether it asks its own visitors to sign in. */
  readonly signIn: boolean;
  /** Whether it believes a header that names the visitor. */
  readonly trustsHeader: boolean;
  /** Where people reach it, when they were told to use another address than its port. */
  readonly publicUrl: string | null;
  /** Values and lines of the file that are not taken as they are written. */
  readonly problems: readonly Problem[];
}

export interface CompanionSettings {
  value<N extends SettingName>(name: N): SettingValue<N>;
  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>>;
}

/** A row of the catalogue: companion.env first, then the environment of the gateway, then what is given. */
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

/** What is wrong with the value of a variable that is read here; null when nothing is. A blank one of ours counts as not set. */
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
