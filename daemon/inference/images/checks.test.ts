import { expect, test } from 'vitest';
import { scanBody } from '../rewrite/body-picture.ts';
import { refuseImage } from './checks.ts';

test.each([
  ['{}', 'image.prompt_required', 422],
  ['{"model":"x","prompt":"  "}', 'image.prompt_required', 422],
  ['{"model":"x","prompt":null}', 'image.prompt_required', 422],
  ['{"model":"x","prompt":7}', 'request.invalid', 422],
  ['{"prompt":"a cat"}', 'request.invalid', 422],
  ['{"prompt":"a cat","model":" "}', 'request.invalid', 422],
  ['{"prompt":"a cat","model":"sdxl"}', 'image.model_not_curated', 404],
])('%s is %s', (text, code, status) => {
  expect(() => refuseImage(scanBody(Buffer.from(text)))).toThrowError(
    expect.objectContaining({ code, status }),
  );
});
