import { z } from 'zod';
import { speakable } from '../../../lib/text/speakable.ts';
import { invalidField } from '../refusal.ts';
import type { SpeechJob } from './speaker.ts';

/**
 * Maximum characters of one request. OpenAI accepts 4,096; local speech that is generated piece by piece can
 * be longer.
 */
export const MAX_INPUT_CHARS = 65_536;

/** Formats that this engine produces. Other formats are converted from these. */
const FORMATS = ['wav', 'pcm'] as const;

const body = z.looseObject({
  input: z
    .string({ error: 'must be a string' })
    .max(MAX_INPUT_CHARS, `must have at most ${MAX_INPUT_CHARS} characters`),
  voice: z
    .union([z.string(), z.looseObject({ id: z.string() })], { error: 'must be the name of a voice' })
    .nullish(),
  speed: z
    .number({ error: 'must be a number' })
    .min(0.25, 'must be 0.25 to 4')
    .max(4, 'must be 0.25 to 4')
    .nullish(),
  response_format: z.enum(FORMATS, { error: `must be ${FORMATS.join(' or ')}` }).nullish(),
});

export interface SpeechRequest extends SpeechJob {
  readonly format: (typeof FORMATS)[number];
}

/** Parses the body of `POST /v1/audio/speech`. Throws a 422 that names the invalid field. */
export function speechRequest(value: unknown): SpeechRequest {
  const parsed = body.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.join('.') ?? '';
    throw invalidField(
      field,
      field === '' ? 'the body must be a JSON object' : `${field}: ${issue?.message}`,
    );
  }
  const { input, voice, speed, response_format } = parsed.data;
  if (!speakable(input)) throw invalidField('input', 'input: contains nothing that can be spoken');
  return {
    text: input,
    voice: typeof voice === 'string' ? voice : (voice?.id ?? null),
    speed: speed ?? 1,
    format: response_format ?? 'wav',
  };
}
