/** A request field whose default a model file can name. */
export type SamplingField =
  | 'temperature'
  | 'top_k'
  | 'top_p'
  | 'min_p'
  | 'xtc_probability'
  | 'xtc_threshold'
  | 'repeat_last_n'
  | 'repeat_penalty';

/** Defaults for the sampling of a model, by request field. */
export type SamplingDefaults = Readonly<Partial<Record<SamplingField, number>>>;

interface Key {
  readonly field: SamplingField;
  readonly min: number;
  readonly max: number;
  readonly isWhole?: true;
}

/** The keys `general.sampling.*` of a GGUF file and the values that a request may have. */
const KEYS: Readonly<Record<string, Key>> = {
  temp: { field: 'temperature', min: 0, max: 100 },
  top_k: { field: 'top_k', min: 0, max: 1_000_000, isWhole: true },
  top_p: { field: 'top_p', min: 0, max: 1 },
  min_p: { field: 'min_p', min: 0, max: 1 },
  xtc_probability: { field: 'xtc_probability', min: 0, max: 1 },
  xtc_threshold: { field: 'xtc_threshold', min: 0, max: 1 },
  penalty_last_n: { field: 'repeat_last_n', min: 0, max: 1_024, isWhole: true },
  penalty_repeat: { field: 'repeat_penalty', min: 0.01, max: 100 },
};

/** Digits of a 32-bit float. */
const FLOAT_DIGITS = 6;

/**
 * Returns the defaults that the author of a model recommends (docs/spec/contract.md#model-sampling). `read` returns
 * the value of a key after `general.sampling.`. Values out of range are left out.
 */
export function samplingDefaults(read: (key: string) => unknown): SamplingDefaults {
  const found = Object.entries(KEYS).flatMap(([key, { field, min, max, isWhole }]) => {
    const raw = read(key);
    const value = typeof raw === 'bigint' ? Number(raw) : raw;
    const isValid =
      typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value));
    return isValid ? [[field, Number(value.toPrecision(isWhole ? 15 : FLOAT_DIGITS))]] : [];
  });
  return Object.fromEntries(found);
}

/** Reads stored defaults. */
export function asSamplingDefaults(value: unknown): SamplingDefaults {
  if (typeof value !== 'object' || value === null) return {};
  const fields = new Set<string>(Object.values(KEYS).map(({ field }) => field));
  return Object.fromEntries(
    Object.entries(value).filter(([field, number]) => fields.has(field) && typeof number === 'number'),
  );
}
