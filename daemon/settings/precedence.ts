import type { SettingRowDef } from './catalogue.ts';

/** An effective value, its source, the value in the file, and what was wrong with the environment's. */
export interface Resolved<T> {
  value: T;
  source: 'env' | 'file' | 'default';
  /** The value in config.toml, even if it is overridden. */
  persisted: T | undefined;
  warning?: string;
  /** The environment contains an invalid or unreadable value of this setting, which is ignored. */
  unusable?: true;
}

export interface Sources {
  /** The current variables of api.env. */
  readonly fileEnv: ReadonlyMap<string, string>;
  /** Names that were in api.env at any time of this run. */
  readonly everInFile: ReadonlySet<string>;
  /** The environment that the process was started with. */
  readonly inheritedEnv: Readonly<Record<string, string | undefined>>;
  /** Names that are assigned in api.env without effect. */
  readonly unread: ReadonlySet<string>;
  /** Accepted values of config.toml by `table.key`. */
  readonly toml: ReadonlyMap<string, unknown>;
}

/** Where an environment value came from. */
export type EnvOrigin = 'file' | 'inherited';

/**
 * Returns the environment's value of one name, or undefined when it is unset or blank.
 * A name in api.env replaces the inherited one, even if it is blank there. An inherited value counts only for
 * a name that was never in api.env during this run: systemd passes the lines of api.env as inherited
 * variables, so after a line is removed the inherited copy is the removed value. At the next start systemd no
 * longer passes it. A variable from elsewhere that such a line had hidden applies again from then on.
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
