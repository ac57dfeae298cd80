import { definedFields, numberFault, numberOf } from '../parts/numbers.ts';

/** Field values of the form. */
export interface ImageForm {
  readonly prompt: string;
  readonly size: string;
  readonly count: string;
  readonly seed: string;
  readonly steps: string;
}

export interface ImageRequest extends Readonly<Record<string, unknown>> {
  readonly model: string;
  readonly prompt: string;
}

/** Builds the request from the form. Omits empty fields and a count of one. */
export function imageRequest(form: ImageForm, model: string | null): ImageRequest {
  const extra = definedFields({ seed: numberOf(form.seed), steps: numberOf(form.steps) });
  return {
    model: model ?? 'img',
    prompt: form.prompt.trim(),
    ...definedFields({ size: form.size, n: form.count === '1' ? null : numberOf(form.count) }),
    ...(Object.keys(extra).length === 0 ? {} : { extra_body: extra }),
  };
}

/** Why the form cannot be sent; null when it can. */
export function imageLacks({ prompt, seed, steps }: ImageForm): string | null {
  if (prompt.trim() === '') return 'Enter a prompt.';
  return numberFault('Seed', seed, 0, Number.MAX_SAFE_INTEGER) ?? numberFault('Steps', steps, 1, 150);
}
