import { SETTINGS, type SettingName } from './catalogue.ts';
import type { Settings } from './settings.ts';

/** URL settings to whose host a secret of api.env is sent, with that secret. */
const SECRETS: { readonly [address in SettingName]?: 'hubToken' | 'otlpHeaders' } = {
  hubUrl: 'hubToken',
  otlpEndpoint: 'otlpHeaders',
};

const originOf = (address: string): string | null => (URL.canParse(address) ? new URL(address).origin : null);

/**
 * Returns why a caller of the API may not give the setting this value, or null. A secret stays with the host
 * that it was configured for: an admin cannot read secrets, but could if a URL sent them to his own host.
 */
export function secretRedirectReason(
  settings: Pick<Settings, 'value'>,
  name: SettingName,
  value: unknown,
): string | null {
  const secret = SECRETS[name];
  if (secret === undefined || settings.value(secret) === '') return null;
  const origin = originOf(String(value));
  if (origin === null || origin === originOf(String(settings.value(name)))) return null;
  return `would send ${SETTINGS[secret].env} to another host; set ${SETTINGS[name].env} in api.env too`;
}
