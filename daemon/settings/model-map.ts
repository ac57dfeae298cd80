import { truncate } from '../lib/text/truncate.ts';
import { isTable } from './config-text.ts';
import type { Parsed, SettingType } from './setting-types.ts';

/** Models by the name of the model that they may stand in for. */
export type ModelMap = Readonly<Record<string, readonly string[]>>;

/** Maximum number of entries, and of models in one of them. */
const MAX_ENTRIES = 256;
const MAX_MODELS = 8;
const MAX_NAME_LENGTH = 256;
const CONTROLS = /[\0-\x1f\x7f]/;

const isName = (name: unknown): name is string =>
  typeof name === 'string' &&
  name === name.trim() &&
  name !== '' &&
  name.length <= MAX_NAME_LENGTH &&
  !CONTROLS.test(name);

/** Returns why one entry cannot be used; null when it can. */
function objection(model: string, value: unknown): string | null {
  if (!isName(model)) return 'is not the name of a model';
  if (isTable(value)) return 'must be a list of models; put a name that contains a dot in quotes';
  if (!Array.isArray(value) || !value.every(isName)) return 'must be a list of names of models';
  if (value.length > MAX_MODELS) return `must have at most ${MAX_MODELS} models`;
  if (value.includes(model)) return 'must not contain the model itself';
  return new Set(value).size < value.length ? 'must contain each model once' : null;
}

function read(value: unknown) {
  if (!isTable(value)) return null;
  const entries = Object.entries(value);
  const wrong = entries.flatMap(([model, models]) => {
    const reason = objection(model, models);
    return reason === null
      ? []
      : [{ model, reason: `has an entry ${JSON.stringify(truncate(model, 80))} that ${reason}` }];
  });
  if (entries.length > MAX_ENTRIES)
    wrong.push({ model: '', reason: `must have at most ${MAX_ENTRIES} entries` });
  const rejected = new Set(wrong.map(({ model }) => model));
  const accepted = entries.filter(([model]) => !rejected.has(model)).slice(0, MAX_ENTRIES);
  return { models: Object.fromEntries(accepted) as ModelMap, reasons: wrong.map(({ reason }) => reason) };
}

const NO_TABLE: Parsed<ModelMap> = { ok: false, reason: 'must be a table of models' };

/**
 * A table of lists of models by model. No list contains its own model or a model twice, so that it has no
 * cycle: the lists of its models are not followed. A reader ignores wrong entries with a warning; the others
 * count.
 */
export const modelMap: SettingType<ModelMap> = {
  name: 'table of lists of models',
  fromText: () => ({ ok: false, reason: 'can be set in config.toml only' }),
  fromToml: (value) => {
    const found = read(value);
    if (found === null) return NO_TABLE;
    const [first, ...others] = found.reasons;
    if (first === undefined) return { ok: true, value: found.models };
    const rest = others.length === 0 ? 'it is ignored' : `it and ${others.length} more are ignored`;
    return { ok: true, value: found.models, warning: `${first}; ${rest}` };
  },
  fromInput: (value) => {
    const found = read(value);
    if (found === null) return NO_TABLE;
    const [first] = found.reasons;
    return first === undefined ? { ok: true, value: found.models } : { ok: false, reason: first };
  },
};
