import { invalidField } from '../refusal.ts';

/** A field of OpenAI or llama-server that this engine does not support. */
interface RefusedField {
  field: string;
  /** Matches values that request nothing, other than null. */
  harmless: (value: unknown) => boolean;
  why: string;
}

const no = (): boolean => false;
const is =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
const emptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const SAMPLER = 'this sampler is not part of the embedded engine';

/**
 * Requesting one of these is refused, never ignored. Fields that concern only the service of a provider
 * (`store`, `service_tier`) are accepted.
 */
const REFUSED: readonly RefusedField[] = [
  { field: 'tfs_z', harmless: (v) => typeof v === 'number' && v >= 1, why: SAMPLER },
  { field: 'mirostat', harmless: is(0, false), why: SAMPLER },
  { field: 'dynatemp_range', harmless: is(0), why: SAMPLER },
  { field: 'top_n_sigma', harmless: (v) => typeof v === 'number' && v <= 0, why: SAMPLER },
  { field: 'min_keep', harmless: is(0, 1), why: SAMPLER },
  { field: 'samplers', harmless: emptyList, why: 'the order of the samplers is fixed' },
  { field: 'ignore_eos', harmless: is(false), why: 'the end token always ends the answer' },
  { field: 'audio', harmless: no, why: 'the embedded engine writes text only' },
  {
    field: 'modalities',
    harmless: (v) => Array.isArray(v) && v.every((word) => word === 'text'),
    why: 'the embedded engine writes text only',
  },
  { field: 'web_search_options', harmless: no, why: 'the embedded engine has no web search' },
  { field: 'lora', harmless: emptyList, why: 'adapters are not supported' },
  { field: 'cache_prompt', harmless: is(true), why: 'the prompt cache is always on' },
];

/** The names of the refused fields. */
export const REFUSED_FIELDS: readonly string[] = REFUSED.map(({ field }) => field);

/** Throws a 400 that names the first field that requests something unsupported. */
export function refuseFields(body: Readonly<Record<string, unknown>>): void {
  for (const { field, harmless, why } of REFUSED) {
    const value = body[field];
    if (value !== undefined && value !== null && !harmless(value))
      throw invalidField(field, `${field}: ${why}`);
  }
}
