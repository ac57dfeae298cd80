import { expect, test } from 'vitest';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { type ImageRequest, parseImageHead, parseImageRequest, wantedCount, wantedOutput } from './checks.ts';

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

test.each([
  [{}, null],
  [{ output_format: 'gif', output_compression: 50 }, null],
  [{ output_format: 'webp' }, { format: 'webp', quality: null }],
  [
    { output_format: 'jpeg', output_compression: 100 },
    { format: 'jpeg', quality: 100 },
  ],
  [
    { output_format: 'jpeg', output_compression: 101 },
    { format: 'jpeg', quality: null },
  ],
  [
    { output_format: 'jpeg', output_compression: -1 },
    { format: 'jpeg', quality: null },
  ],
  [
    { output_format: 'jpeg', output_compression: '9' },
    { format: 'jpeg', quality: null },
  ],
])('the output that a forwarded request %j wants', (body, expected) => {
  expect(wantedOutput(body)).toEqual(expected);
});

test.each([
  [undefined, 1],
  [3, 3],
  [0, 1],
  [-2, 1],
  [2.5, 1],
  ['3', 1],
])('a forwarded request with n = %j wants %i images', (n, count) => {
  expect(wantedCount({ n })).toBe(count);
});

test.each([
  [{ output_format: 'gif' }, 'output_format'],
  [{ output_format: 'jpeg', output_compression: 101 }, 'output_compression'],
  [{ response_format: 'file' }, 'response_format'],
  [{ prompt: 'x'.repeat(100_000) }, 'prompt'],
])('an output of %j is refused, naming %s', (body, param) => {
  expect(() => parse(body)).toThrowError(
    expect.objectContaining({ code: 'request.invalid', options: expect.objectContaining({ param }) }),
  );
});

test('settings that a workflow has no input for are named', () => {
  const workflow = (mapping: object) =>
    ({ ...model('sd15'), workflow: { graph: {}, mapping } }) as ImageModel;
  const unfollowed = (mapping: object, body: object) =>
    parseImageRequest(parseImageHead({ prompt: 'p', model: 'mine', ...body }), workflow(mapping)).unfollowed;
  const all = { n: 2, size: '512x512', seed: 1, steps: 5 };
  expect(unfollowed({ prompt: ['1.text'] }, all)).toEqual(['n', 'size', 'seed', 'steps']);
  expect(unfollowed({ width: ['1.w'] }, { size: '512x512' })).toEqual(['size']);
  expect(unfollowed({ prompt: ['1.text'] }, { size: 'auto' })).toEqual([]);
  const complete = { n: ['1.n'], width: ['1.w'], height: ['1.h'], seed: ['1.s'], steps: ['1.t'] };
  expect(unfollowed(complete, all)).toEqual([]);
});
