import { expect, test } from 'vitest';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { type ImageRequest, parseImageHead, parseImageRequest } from './checks.ts';

const model = (id: string) => curatedModel(id) as ImageModel;
const parse = (body: object, id = 'sd15'): ImageRequest =>
  parseImageRequest(parseImageHead({ prompt: 'a cat', model: id, ...body }), model(id));

test.each([
  [{}, 'image.prompt_required', 422],
  [{ model: 'x', prompt: '  ' }, 'image.prompt_required', 422],
  [{ model: 'x', prompt: null }, 'image.prompt_required', 422],
  [{ model: 'x', prompt: 7 }, 'request.invalid', 422],
  [{ prompt: 'a cat' }, 'request.invalid', 422],
  [{ prompt: 'a cat', model: ' ' }, 'request.invalid', 422],
  [{ prompt: 'a cat', model: 7 }, 'request.invalid', 422],
])('%j is %s', (body, code, status) => {
  expect(() => parseImageHead(body)).toThrowError(expect.objectContaining({ code, status }));
});

test("omitted parameters use the model's defaults and a random seed", () => {
  const { drawing, form, requestedExtras: extras } = parse({});
  expect(drawing).toMatchObject({ count: 1, width: 512, height: 512, steps: 20, cfg: 7, negativePrompt: '' });
  expect(drawing.seed).toBeGreaterThanOrEqual(0);
  expect([form, extras.size]).toEqual(['url', 0]);
  expect(
    parse({ size: 'auto', n: null, response_format: null, extra_body: null }, 'sdxl').drawing.width,
  ).toBe(1024);
});

test('further parameters count nested and merged, nested first', () => {
  const extras = { seed: 4, steps: 9, cfg: 0, negative_prompt: 'dogs' };
  const expected = { seed: 4, steps: 9, cfg: 0, negativePrompt: 'dogs' };
  expect(parse({ extra_body: extras }).drawing).toMatchObject(expected);
  expect(parse(extras).drawing).toMatchObject(expected);
  expect(parse({ seed: 5, extra_body: { seed: 4 } }).drawing.seed).toBe(4);
  expect([...parse(extras).requestedExtras]).toEqual(['seed', 'steps', 'cfg', 'negative_prompt']);
});

test.each([
  [{ n: 0 }, 'n'],
  [{ n: '2' }, 'n'],
  [{ size: '64X64' }, 'size'],
  [{ size: '064x64' }, 'size'],
  [{ size: '2056x64' }, 'size'],
  [{ size: 512 }, 'size'],
  [{ extra_body: { seed: 2 ** 53 } }, 'seed'],
  [{ extra_body: { seed: 1.5 } }, 'seed'],
  [{ extra_body: { cfg: '7' } }, 'cfg'],
  [{ extra_body: { negative_prompt: 7 } }, 'negative_prompt'],
  [{ extra_body: 'x' }, 'extra_body'],
  [{ stream: true, partial_images: 4 }, 'partial_images'],
])('%j is 422 naming %s', (body, param) => {
  expect(() => parse(body)).toThrowError(
    expect.objectContaining({ code: 'request.invalid', options: expect.objectContaining({ param }) }),
  );
});

test('limits are inclusive', () => {
  expect(parse({ n: 8, size: '64x2048', seed: 2 ** 53 - 1, steps: 150, cfg: 30 }).drawing).toMatchObject({
    count: 8,
    height: 2048,
    seed: 2 ** 53 - 1,
  });
  expect(parse({ seed: -1 }).drawing.seed).toBeGreaterThanOrEqual(0);
});

test.each<[string, Record<string, unknown>]>([
  ['absent', { prompt: 'a cat' }],
  ['null', { prompt: 'a cat', model: null }],
  ['blank', { prompt: 'a cat', model: ' ' }],
])('a model that is %s is the only image slot', (_, body) => {
  expect(parseImageHead(body, () => 'img').model).toBe('img');
  expect(() => parseImageHead(body, () => null)).toThrowError(
    expect.objectContaining({ code: 'request.invalid' }),
  );
});
