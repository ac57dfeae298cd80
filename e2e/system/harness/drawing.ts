import { expect } from 'vitest';
import type { ImagesResponse } from '../../../daemon/contract/images.ts';
import { type HttpResponse, send } from '../../../daemon/test/harness/http.ts';

/** The smallest request: 64 x 64 in two steps, returned as data. */
export const smallDrawing = (model: string, more: object = {}): object => ({
  model,
  prompt: 'a cat',
  size: '64x64',
  seed: 1,
  steps: 2,
  response_format: 'b64_json',
  ...more,
});

/** Sends a small drawing. Waits for `limitMs` at most. */
export const draw = (
  gateway: { readonly port: number },
  model: string,
  limitMs: number,
  more: object = {},
): Promise<HttpResponse> =>
  send(gateway, 'POST', '/v1/images/generations', {
    idleTimeoutMs: limitMs,
    body: smallDrawing(model, more),
  });

/** Returns the images of a response, which must have succeeded. */
export function imagesOf(answer: HttpResponse): Buffer[] {
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  return answer
    .json<ImagesResponse>()
    .data.map((each) => Buffer.from('b64_json' in each ? (each.b64_json ?? '') : '', 'base64'));
}

/** Returns width and height of a PNG. */
export function sizeOf(png: Buffer | undefined): readonly [number, number] {
  expect(png?.toString('latin1', 1, 4)).toBe('PNG');
  return [png?.readUInt32BE(16) ?? 0, png?.readUInt32BE(20) ?? 0];
}
