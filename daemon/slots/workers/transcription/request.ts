import { invalidField } from '../refusal.ts';
import { languageCode } from './language.ts';

export const RESULT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

export interface TranscriptionRequest {
  readonly format: ResultFormat;
  readonly stream: boolean;
  /** Code of the spoken language. Null: automatic detection. */
  readonly language: string | null;
  /** True: returns word timestamps if the model provides them. */
  readonly words: boolean;
}

/** Languages that an error names. */
const MAX_LISTED = 20;

const isFormat = (text: string): text is ResultFormat => (RESULT_FORMATS as readonly string[]).includes(text);

/**
 * Returns the language for the model. Ignores the hint for a model without language selection; otherwise only
 * known languages are used. The message of the error does not list them all.
 */
function languageFrom(text: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const code = languageCode(text, known);
  if (code !== undefined) return code;
  const more = known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} others` : '';
  throw invalidField(
    'language',
    `language: this model supports ${known.slice(0, MAX_LISTED).join(', ')}${more}`,
  );
}

const wantsWords = (fields: ReadonlyMap<string, string>): boolean =>
  (fields.get('timestamp_granularities') ?? '').split(',').some((each) => each.trim() === 'word');

/**
 * Parses the text fields of a form; `languages` are those that the model supports. Throws a 422 that names
 * the invalid field. `prompt` and `temperature` have no effect on these models and are accepted.
 */
export function transcriptionRequest(
  fields: ReadonlyMap<string, string>,
  languages: readonly string[],
): TranscriptionRequest {
  const format = (fields.get('response_format') ?? '').trim() || 'json';
  if (!isFormat(format))
    throw invalidField('response_format', `response_format: must be ${RESULT_FORMATS.join(', ')}`);
  const stream = /^(true|1)$/i.test((fields.get('stream') ?? '').trim());
  if (stream && format !== 'json' && format !== 'text')
    throw invalidField('stream', `stream: ${format} cannot be streamed; json and text can`);
  const words = format === 'verbose_json' && wantsWords(fields);
  return { format, stream, words, language: languageFrom(fields.get('language') ?? '', languages) };
}
