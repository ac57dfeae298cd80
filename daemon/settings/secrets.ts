import { settingRows } from './catalogue.ts';

const SECRET_ROWS = new Set(
  settingRows().flatMap((row) => (row.secret && row.env !== undefined ? [row.env] : [])),
);
const PLAIN_ROWS = new Set(
  settingRows().flatMap((row) => (!row.secret && row.env !== undefined ? [row.env] : [])),
);
/** Matches names whose last part marks a secret, and names of upstream keys. */
const SECRET_NAME = /(^|_)(key|token|secret|password|passwd|pass|credentials?)$|^UPSTREAM_/i;
/** Maximum number of former values that are still redacted, because they may still occur in messages. */
const MAX_OLD_SECRETS = 64;

/** Returns whether the value of this environment variable must never be written. */
export const isSecretName = (name: string): boolean =>
  SECRET_ROWS.has(name) || (!PLAIN_ROWS.has(name) && SECRET_NAME.test(name));

/** Returns whether a variable is a setting of the catalogue that is not secret. */
export const isPlainSetting = (name: string): boolean => PLAIN_ROWS.has(name);

/** Matches names of upstream keys. */
const UPSTREAM_KEY = /^UPSTREAM_[A-Z0-9_]{1,64}$/;

/**
 * Returns whether the API may set this variable: keys of upstreams and the hub token. Everything else in api.env
 * changes how the gateway runs, or who may call it.
 */
export const isWritableSecret = (name: string): boolean => name === 'HF_TOKEN' || UPSTREAM_KEY.test(name);

/** Secret values for redaction: the current ones, and the latest former ones. */
export class SecretList {
  /** The current ones, then the former ones, newest first. */
  #byAge: readonly string[] = [];
  #values: readonly string[] = [];

  /**
   * The longest first: if one secret contains another, redacting the shorter one first would leave the rest
   * of the longer one.
   */
  get values(): readonly string[] {
    return this.#values;
  }

  /** Updates the list with the current environments. */
  update(...environments: Array<Iterable<[string, string | undefined]>>): void {
    const now = new Set<string>();
    for (const environment of environments) {
      for (const [name, value] of environment) {
        if (value === undefined || value.trim() === '' || !isSecretName(name)) continue;
        now.add(value);
        now.add(value.trim());
      }
    }
    const old = this.#byAge.filter((value) => !now.has(value)).slice(0, MAX_OLD_SECRETS);
    this.#byAge = [...now, ...old];
    this.#values = this.#byAge.toSorted((one, other) => other.length - one.length);
  }
}
