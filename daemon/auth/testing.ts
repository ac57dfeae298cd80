import { SETTINGS, type SettingName, type SettingValue } from '../settings/catalogue.ts';
import type { Settings } from '../settings/settings.ts';
import type { StoredSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { AuthRequest } from './request.ts';

/** For tests: a request of Node, from header pairs. */
export function aRequest(change: Partial<AuthRequest> & { with?: Record<string, string> } = {}): AuthRequest {
  const { with: headers = {}, ...rest } = change;
  const rawHeaders = Object.entries({ Host: '127.0.0.1:8080', ...headers }).flat();
  return { method: 'GET', url: '/', rawHeaders, headers: {}, peer: '127.0.0.1', upgrade: false, ...rest };
}

type Values = { [N in SettingName]?: SettingValue<N> };
type MemorySettings = Pick<Settings, 'folders' | 'value' | 'resolve' | 'persist' | 'setEnvFile' | 'onChange'>;

/** For tests of one rule: settings that live in memory; `env` values win over persisted ones. */
export function memorySettings(
  file: Values = {},
  env: Values = {},
): MemorySettings & { file: Values; env: Values } {
  const listeners = new Set<(change: 'written') => void>();
  const resolve: Settings['resolve'] = (name) => {
    type Value = SettingValue<typeof name>;
    const persisted = file[name] as Value | undefined;
    if (env[name] !== undefined) return { value: env[name] as Value, source: 'env', persisted };
    if (persisted !== undefined) return { value: persisted, source: 'file', persisted };
    return { value: SETTINGS[name].default as Value, source: 'default', persisted };
  };
  const written = () => {
    for (const listener of listeners) listener('written');
  };
  return {
    folders: { config: '/etc/svc', state: '/var/lib/svc' },
    file,
    env,
    resolve,
    value: (name) => resolve(name).value,
    async persist(name, value) {
      Object.assign(file, { [name]: value });
      written();
    },
    async setEnvFile(name, value) {
      env[name] = value;
      written();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** For tests of one rule: the sessions of a store, in memory. */
export function memorySessions(): Store['sessions'] {
  const rows = new Map<string, StoredSession & { revoked?: true }>();
  return {
    create: (id, created_at, expires_at) => void rows.set(id, { id, created_at, expires_at }),
    revoke: (id, expires_at) => void rows.set(id, { id, created_at: 0, expires_at, revoked: true }),
    isRevoked: (id) => rows.get(id)?.revoked === true,
    active: (nowS) => [...rows.values()].filter((row) => !row.revoked && row.expires_at > nowS),
    clear: () => rows.clear(),
    prune: () => {},
  };
}
