import { bool, f32, type GgufValue, integers, str, u32 } from './writer.ts';

/** A value of a header, in the shortest form. Lists are one value per layer. */
export type KeyValue = number | boolean | string | readonly number[];
/** The keys of a model without the prefix of its architecture. */
export type ModelKeys = Readonly<Record<string, KeyValue>>;

/** A published model, described by the keys of its header. */
export interface PublishedModel {
  readonly name: string;
  readonly architecture: string;
  readonly vocabulary: number;
  /** Whether it has its own output layer. */
  readonly isUntied?: true;
  readonly keys: ModelKeys;
}

/** Repeats a group of values. */
export const repeat = <T>(group: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => group).flat();

const FLOAT_KEYS = /epsilon|freq_base|scale|softcapping/;

function encoded(key: string, value: KeyValue): GgufValue {
  if (typeof value === 'string') return str(value);
  if (typeof value === 'boolean') return bool(value);
  if (typeof value === 'object') return integers(value);
  return FLOAT_KEYS.test(key) ? f32(value) : u32(value);
}

/** Returns the metadata of a header without a vocabulary: only its size is given. */
export function headerKeys({
  name,
  architecture,
  vocabulary,
  keys,
}: PublishedModel): Record<string, GgufValue> {
  const own = Object.entries(keys).map(([key, value]) => [`${architecture}.${key}`, encoded(key, value)]);
  return {
    'general.architecture': str(architecture),
    'general.name': str(name),
    'tokenizer.ggml.model': str('none'),
    [`${architecture}.vocab_size`]: u32(vocabulary),
    ...(architecture.endsWith('bert') ? { 'tokenizer.ggml.token_type_count': u32(1) } : {}),
    ...Object.fromEntries(own),
  };
}
