import { expect, test } from 'vitest';
import { ImageEvents } from './image-events.ts';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Events of a stream with this number of previews, and what was written. */
function open(partialImages: number) {
  const written: Record<string, unknown>[] = [];
  let heads = 0;
  let isFinished = false;
  const read = (bytes: Buffer | string | undefined) => {
    for (const block of String(bytes).split('\n\n').filter(Boolean)) {
      const [event, data] = block.split('\n') as [string, string];
      const value = JSON.parse(data.slice('data: '.length));
      expect(event).toBe(`event: ${value.type}`);
      written.push(value);
    }
    return true;
  };
  const response = {
    begin: () => {
      heads += 1;
    },
    write: read,
    finish: (bytes?: Buffer) => {
      read(bytes);
      isFinished = true;
    },
  };
  const events = new ImageEvents(response as never, { partialImages });
  return { events, written, state: () => ({ hasHead: heads > 0, isFinished }) };
}

test('a caller without previews gets none', () => {
  const { events, state } = open(0);
  expect(events.onPreview).toBeUndefined();
  expect(state()).toEqual({ hasHead: false, isFinished: false });
});

test('previews are spread over the steps, and bounded', () => {
  const { events, written } = open(2);
  const imageAt = (fraction: number) => Buffer.concat([PNG, Buffer.from(String(fraction))]);
  for (const fraction of [0.1, 0.3, 0.34, 0.5, 0.7, 0.9, 1]) events.onPreview?.(imageAt(fraction), fraction);
  expect(written).toMatchObject([
    {
      ...{ type: 'image_generation.partial_image', partial_image_index: 0, output_format: 'png' },
      b64_json: imageAt(0.34).toString('base64'),
    },
    { partial_image_index: 1, b64_json: imageAt(0.7).toString('base64') },
  ]);
});

test('a preview that is no image is left out, and the next one is used', () => {
  const { events, written } = open(1);
  events.onPreview?.(Buffer.from('<html>'), 0.6);
  expect(written).toEqual([]);
  events.onPreview?.(PNG, 0.7);
  expect(written).toMatchObject([{ partial_image_index: 0 }]);
});

test.each([
  [
    'a drawing of the gateway',
    { meta: { duration_ms: 1, width: 512, height: 768 }, size: '1x1' },
    { size: '512x768', quality: 'auto', background: 'auto', output_format: 'png' },
  ],
  [
    'one of an upstream',
    {
      meta: { duration_ms: 1 },
      size: '256x256',
      quality: 'high',
      background: 'opaque',
      output_format: 'webp',
    },
    { size: '256x256', quality: 'high', background: 'opaque', output_format: 'webp' },
  ],
] as const)('the end has an event for each image of %s', (_, { meta, ...more }, expected) => {
  const { events, written, state } = open(1);
  const _svc = { meta, prompt_id: 'p', upstream: 'img', model: 'sd15' };
  events.complete({ created: 1, data: [{ url: '/a' }, { b64_json: 'eA==' }], _svc, ...more });
  expect(written).toMatchObject([
    { type: 'image_generation.completed', url: '/a', _svc, ...expected },
    { type: 'image_generation.completed', b64_json: 'eA==', ...expected },
  ]);
  expect(state()).toEqual({ hasHead: true, isFinished: true });
});
