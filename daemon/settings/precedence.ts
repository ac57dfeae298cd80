import type { SettingRowDef } from './catalogue.ts';

/** An effective value, where it came from, what the file holds, and what was wrong with the environment's. */
export interface Resolved<T> {
  value: T;
  source: 'env' | 'file' | 'default';
  /** The value of config.toml, whoever wins. */
  persisted: T | undefined;
  warning?: string;
  /** The environment holds something that can be no value of this setting, or that can't be read; it does not count. */
  unusable?: true;
}

export interface Sources {
  /** api.env as it stands. */
  readonly fileEnv: ReadonlyMap<string, string>;
  /** Names that stood in api.env at any time of this run. */
  readonly everInFile: ReadonlySet<string>;
  /** What the process was started with. */
  readonly inheritedEnv: Readonly<Record<string, string | undefined>>;
  /** Names that api.env gives no value, although they are written there. */
  readonly unread: ReadonlySet<string>;
  /** Accepted values of config.toml by `table.key`. */
  readonly toml: ReadonlyMap<string, unknown>;
}

/** Where an environment value came from. */
export type EnvOrigin = 'file' | 'inherited';

/**
 * The environment's value of one name; undefined when it is unset or blank.
 *
 * A name in api.env replaces the inherited one, also when it is blank there. An inherited value counts only for a
 * name that was never in api.env during this run: systemd hands us the lines of api.env as inherited variables, so
 * after a line is removed the inherited copy is the removed value, not a second opinion. At the next start systemd
 * no longer hands it over. A variable that came from elsewhere and was hidden by such a line counts again from then.
 */
export function environmentValue(
  name: string,
  sources: Omit<Sources, 'toml' | 'unread'>,
): { text: string; origin: EnvOrigin } | undefined {
  const listed = sources.fileEnv.get(name);
  if (listed !== undefined) return blank(listed) ? undefined : { text: listed, origin: 'file' };
  if (sources.everInFile.has(name)) return undefined;
  const inherited = Object.hasOwn(sources.inheritedEnv, name) ? sources.inheritedEnv[name] : undefined;
  return inherited === undefined || blank(inherited) ? undefined : { text: inherited, origin: 'inherited' };
}

const blank = (text: string): boolean => text.trim() === '';

/**
 * Returns the effective value of one setting: environment > config.toml > default
 * (docs/spec/contract.md#settings-precedence). An environment value that cannot be read still wins over the
 * file, with the default and a warning. Every default is the strict choice, so a typing error never opens
 * anything.
 */
export function resolve<T>(row: SettingRowDef<T>, sources: Sources): Resolved<T> {
  const persisted = row.toml === undefined ? undefined : (sources.toml.get(row.toml) as T | undefined);
  const fallback: Resolved<T> =
    persisted === undefined
      ? { value: row.default, source: 'default', persisted }
      : { value: persisted, source: 'file', persisted };
  if (row.env === undefined) return fallback;
  const found = environmentValue(row.env, sources);
  if (found === undefined) return sources.unread.has(row.env) ? { ...fallback, unusable: true } : fallback;
  const read = row.type.fromText(found.text);
  if (!read.ok) {
    const warning = `${row.env} ${read.reason}; the default is used`;
    return { value: row.default, source: 'default', persisted, warning, unusable: true };
  }
  const resolved: Resolved<T> = { value: read.value, source: 'env', persisted };
  return read.warning === undefined ? resolved : { ...resolved, warning: `${row.env} ${read.warning}` };
}
