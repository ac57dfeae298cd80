import { numberFault, numberOf, said } from '../parts/numbers.ts';

/** What stands in the fields of the form. */
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

/** The request that a form makes. What is empty is left to the model, and one picture need not be said. */
export function imageRequest(form: ImageForm, model: string | null): ImageRequest {
  const extra = said({ seed: numberOf(form.seed), steps: numberOf(form.steps) });
  return {
    model: model ?? 'img',
    prompt: form.prompt.trim(),
    ...said({ size: form.size, n: form.count === '1' ? null : numberOf(form.count) }),
    ...(Object.keys(extra).length === 0 ? {} : { extra_body: extra }),
  };
}

/** Why it cannot be sent; null when it can. */
export function imageLacks({ prompt, seed, steps }: ImageForm): string | null {
  if (prompt.trim() === '') return 'Write what shall be drawn.';
  return numberFault('Seed', seed, 0, Number.MAX_SAFE_INTEGER) ?? numberFault('Steps', steps, 1, 150);
}
