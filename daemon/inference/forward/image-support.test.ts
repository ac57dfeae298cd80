import { expect, test } from 'vitest';
import { ImageSupport } from './image-support.ts';

const failure = (text: string, status = 400) =>
  ({ status, bytes: Buffer.from(text), truncated: false, hints: {} }) as never;

test.each([
  ['image input is not supported - hint: you may need to provide the mmproj', 500],
  ['No endpoints found that support image input', 404],
  ['qwen3 is not a multimodal model', 400],
  ['At most 0 image(s) may be provided in one prompt.', 400],
  ['Invalid content type. image_url is only supported by certain models.', 400],
  ['Failed to deserialize: unknown variant `image_url`, expected `text`', 422],
  ['this model does not support images', 400],
  ['messages.1.content.0: the embedded engine reads text only, not parts of type "image_url"', 400],
])('%s', (text, status) => {
  const support = new ImageSupport();
  support.recordFailure('http://a', 'm', failure(text, status));
  expect(support.isRefused('http://a', 'm')).toBe(true);
  expect([support.isRefused('http://a', 'n'), support.isRefused('http://b', 'm')]).toEqual([false, false]);
});

test.each([
  'The image is too large.',
  'Could not decode image',
  'This endpoint supports images up to 20 MB.',
  'The image input is too large.',
  'This model does not support tools.',
  'maximum context length is 512 tokens',
  '',
])('%j is no refusal of images', (text) => {
  const support = new ImageSupport();
  support.recordFailure('http://a', 'm', failure(text));
  expect(support.isRefused('http://a', 'm')).toBe(false);
});
