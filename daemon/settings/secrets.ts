import { settingRows } from './catalogue.ts';

const SECRET_ROWS = new Set(
  settingRows().flatMap((row) => (row.secret && row.env !== undefined ? [row.env] : [])),
);
const PLAIN_ROWS = new Set(
  settingRows().flatMap((row) => (!row.secret && row.env !== undefined ? [row.env] : [])),
);
/** The last part of a name says so, or it is the name of an upstream's key. */
const SECRET_NAME = /(^|_)(key|token|secret|password|passwd|pass|credentials?)$|^UPSTREAM_/i;
/** Values that are no longer in force but may still be mentioned by someone. */
const MAX_OLD_SECRETS = 64;

/** Whether the value under this name of the environment must never be written anywhere. */
export const isSecretName = (name: string): boolean =>
  SECRET_ROWS.has(name) || (!PLAIN_ROWS.has(name) && SECRET_NAME.test(name));

/** Whether a variable is a setting of the catalogue that anybody may see. */
export const isPlainSetting = (name: string): boolean => PLAIN_ROWS.has(name);

/** Secret values for the log's last step: those in force, and the latest ones that were. */
export class SecretList {
  /** Those in force, then the others, the newest first. */
  #byAge: readonly string[] = [];
  #values: readonly string[] = [];

  /** The longest first: where one holds another, hiding the shorter one first would leave the rest of the longer one. */
  get values(): readonly string[] {
    return this.#values;
  }

  /** Takes in the environments that are in force now. */
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
