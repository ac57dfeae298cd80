import { SetupError } from '../lib/setup-error.ts';
import { ownOrigin } from './address.ts';
import { COMPANION_FILE, type CompanionPlan, isOn } from './companion-env.ts';

export interface ContainerEnvInput {
  readonly plan: CompanionPlan;
  /** Blank when there is none. */
  readonly clientKey: string;
  /** Where the gateway listens. */
  readonly bindHost: string;
  readonly port: number;
}

/** Variables of companion.env for the gateway, not for the container. */
const OURS = /^SVC_/;
/** Switches of Open WebUI that the first companion.env names. */
const SWITCHES = [
  'WEBUI_AUTH',
  'ENABLE_PERSISTENT_CONFIG',
  'ENABLE_OLLAMA_API',
  'OFFLINE_MODE',
  'ENABLE_VERSION_UPDATE_CHECK',
  'ENABLE_IMAGE_GENERATION',
  'AUDIO_REALTIME_ENABLED',
];
/**
 * Prefixes of Open WebUI's variables for the server of one part of it. Their default is OpenAI, not OPENAI_API_BASE_URL
 * (https://docs.openwebui.com/reference/env-configuration).
 */
const PARTS = ['RAG', 'AUDIO_STT', 'AUDIO_TTS', 'AUDIO_REALTIME', 'IMAGES', 'IMAGES_EDIT'];
const CONTROL = /[\0-\x1f\x7f]/;

const withoutSlash = (url: string): string => url.trim().replace(/\/+$/, '');

/**
 * Points a part at the gateway unless companion.env names another server, which never receives the client key: without
 * its own key, Open WebUI would send OPENAI_API_KEY there.
 */
function addPart(env: Map<string, string>, part: string, gatewayUrl: string, clientKey: string): void {
  const name = `${part}_OPENAI_API_BASE_URL`;
  const url = withoutSlash(env.get(name) ?? '') || gatewayUrl;
  env.set(name, url);
  const key = `${part}_OPENAI_API_KEY`;
  if (url !== gatewayUrl) env.set(key, env.get(key) ?? '');
  else if (clientKey !== '') env.set(key, clientKey);
}

/**
 * Returns the variables of the chat UI (docs/spec/contract.md#companion-env): those of companion.env, its
 * address and port, the address of the API for every part for which the file names none, and the client key as its API key.
 */
export function containerEnv({ plan, clientKey, bindHost, port }: ContainerEnvInput): Map<string, string> {
  const env = new Map([['OPENAI_API_BASE_URL', `${ownOrigin(bindHost, port)}/v1`]]);
  for (const [name, value] of plan.variables) if (!OURS.test(name)) env.set(name, value);
  for (const name of SWITCHES) if (isOn(env.get(name) ?? '')) env.set(name, 'True');
  if (plan.trustsHeader && !plan.variables.has('WEBUI_AUTH')) env.set('WEBUI_AUTH', 'True');
  if (clientKey !== '') env.set('OPENAI_API_KEY', clientKey);
  const gatewayUrl = withoutSlash(env.get('OPENAI_API_BASE_URL') ?? '');
  for (const part of PARTS) addPart(env, part, gatewayUrl, clientKey);
  return env.set('HOST', plan.bindHost).set('PORT', String(plan.port));
}

/** The variables as Podman reads a file of them: one a line, each value up to the end of its line. Throws SetupError. */
export function envFileText(env: ReadonlyMap<string, string>): string {
  const wrong = [...env].find(([, value]) => CONTROL.test(value));
  if (wrong !== undefined) {
    const advice = `Write ${wrong[0]} of ${COMPANION_FILE} in one line.`;
    throw new SetupError(`${wrong[0]} holds more than one line.`, advice);
  }
  return [...env].map(([name, value]) => `${name}=${value}\n`).join('');
}
