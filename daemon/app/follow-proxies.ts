import type { Log } from '../lib/log.ts';
import { type ProxyRules, proxyRules } from '../lib/net/proxy-rules.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Returns the proxy for an origin, by the usual variables of api.env or the environment (docs/spec/contract.md#proxies).
 * Follows changes, and logs variables that cannot be used, without their values.
 */
export function followProxies(
  settings: Pick<Settings, 'environment' | 'onChange'>,
  log: Pick<Log, 'warn'>,
): (origin: string) => string | null {
  let rules: ProxyRules | null = null;
  let logged = '';
  const read = () => {
    rules = proxyRules((name) => settings.environment(name));
    const problems = rules?.problems ?? [];
    if (problems.length > 0 && problems.join() !== logged)
      log.warn({ problems }, 'a proxy of the environment cannot be used');
    logged = problems.join();
  };
  read();
  settings.onChange(read);
  return (origin) => rules?.proxyFor(origin) ?? null;
}
