import { refusedField } from '../refusal.ts';

export const RESULT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

export interface TranscriptionRequest {
  readonly format: ResultFormat;
  readonly stream: boolean;
  /** Code of the language that is spoken; null lets the model find out. */
  readonly language: string | null;
  /** When each word was said, where the model tells it. */
  readonly words: boolean;
}

const isFormat = (text: string): text is ResultFormat => (RESULT_FORMATS as readonly string[]).includes(text);

/** A model that takes no hint ignores one; a model that knows a list takes what is on it. */
function languageFrom(text: string, known: readonly string[]): string | null {
  const requested = text.trim().toLowerCase();
  if (requested === '' || known.length === 0) return null;
  const code = known.find((each) => each === requested || each === requested.split('-')[0]);
  if (code !== undefined) return code;
  throw refusedField('language', `language: this model knows ${known.slice(0, 120).join(', ')}`);
}

const wantsWords = (fields: ReadonlyMap<string, string>): boolean =>
  (fields.get('timestamp_granularities') ?? '').split(',').some((each) => each.trim() === 'word');

/**
 * Reads the text fields of a form; `languages` are those that the model can be told. Throws a 422 that names the field at
 * fault. `prompt` and `temperature` have no meaning for these models and are accepted.
 */
export function transcriptionRequest(
  fields: ReadonlyMap<string, string>,
  languages: readonly string[],
): TranscriptionRequest {
  const format = (fields.get('response_format') ?? '').trim() || 'json';
  if (!isFormat(format))
    throw refusedField('response_format', `response_format: must be ${RESULT_FORMATS.join(', ')}`);
  const stream = /^(true|1)$/i.test((fields.get('stream') ?? '').trim());
  if (stream && format !== 'json' && format !== 'text')
    throw refusedField('stream', `stream: ${format} can not be streamed; json and text can`);
  const words = format === 'verbose_json' && wantsWords(fields);
  return { format, stream, words, language: languageFrom(fields.get('language') ?? '', languages) };
}
