import { describe, expect, test } from 'vitest';
import type { SlotRecord } from '../../contract/slots.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { ConfiguredNames } from '../dispatch/configured-names.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { modelOfFile } from './own-model.ts';
import { imageModelNames, type ReportedModels, resolveImageModel } from './resolve-model.ts';

const image = (name: string, model: string | null, engine: SlotRecord['engine'] = 'comfyui') =>
  slotRecord({ name, type: 'image', engine, model });
const DREAMS = modelOfFile('dreams.safetensors', { family: 'sdxl', source: 'header' });
const reporting = (models: Record<string, readonly ImageModel[]> = {}): ReportedModels => ({
  of: (slot) => models[slot] ?? [],
  isKnown: (slot) => Object.hasOwn(models, slot),
});
const sdxl = curatedModel('sdxl') as ImageModel;

interface Case {
  readonly slots?: readonly SlotRecord[];
  readonly upstreams?: Parameters<typeof upstreamConfigOf>[0][];
  readonly reported?: Record<string, readonly ImageModel[]>;
}
const viewOf = ({ slots = [], upstreams = [] }: Case) =>
  routingView({
    slots,
    upstreams: upstreams.map(upstreamConfigOf),
    names: new ConfiguredNames({ aliases: { 'dall-e-3': 'sdxl' }, presets: {} }),
  });
const resolved = (name: string, on: Case) => resolveImageModel(name, viewOf(on), reporting(on.reported));
const refused = (name: string, on: Case) => {
  try {
    resolved(name, on);
  } catch (error) {
    return error as { code: string; message: string; options: { details: unknown } };
  }
  throw new Error('it resolved');
};

describe('the name of a slot', () => {
  test.each([
    ['its alias', 'draw'],
    ['its virtual name', 'svc/draw'],
  ])('by %s: the model of its file', (_, name) => {
    expect(resolved(name, { slots: [image('draw', 'sdxl')] })).toEqual({ image: sdxl, model: 'svc/draw' });
  });

  test('an engine that gets requests unchanged', () => {
    expect(resolved('draw', { slots: [image('draw', 'any', 'vllm')] })).toEqual({
      ...{ image: null, model: 'svc/draw' },
    });
  });

  test('a file whose family is assumed needs a query of its engine, once', () => {
    const slots = [image('draw', 'x.safetensors')];
    expect(resolved('draw', { slots })).toMatchObject({ unknownAt: 'draw' });
    expect(resolved('draw', { slots, reported: { draw: [] } })).not.toHaveProperty('unknownAt');
    expect(resolved('draw', { slots: [image('draw', 'sdxl')] })).not.toHaveProperty('unknownAt');
  });

  test('a slot without a model, and one of another type', () => {
    expect(refused('draw', { slots: [image('draw', null)] }).message).toMatch(
      /^Slot draw names no image model/,
    );
    expect(refused('agent', { slots: [slotRecord({ name: 'agent' })] }).message).toBe(
      'Slot agent does not generate images.',
    );
  });
});

describe('the name of a model', () => {
  test('a slot whose file names it comes first, by the exact name before another name of the same model', () => {
    const slots = [image('a', 'sd_xl_base_1.0.safetensors'), image('b', 'sdxl'), image('c', null)];
    expect(resolved('sdxl', { slots })).toMatchObject({ image: { id: 'sdxl' }, model: 'sdxl' });
    expect(resolved('sdxl-base', { slots })).toMatchObject({ model: 'sd_xl_base_1.0.safetensors' });
    expect(resolved('dall-e-3', { slots })).toMatchObject({ model: 'sdxl' });
  });

  test('a model of an engine that gets requests unchanged', () => {
    const slots = [image('draw', 'Qwen/Qwen-Image', 'vllm')];
    expect(resolved('Qwen/Qwen-Image', { slots })).toEqual({ image: null, model: 'Qwen/Qwen-Image' });
  });

  test('a built-in model goes to the default slot unless another engine has its files', () => {
    const slots = [image('img', null), image('other', null)];
    expect(resolved('sdxl', { slots })).toEqual({ image: sdxl, model: 'sdxl' });
    expect(resolved('sdxl', { slots, reported: { other: [sdxl] } })).toEqual({
      image: sdxl,
      model: 'svc/other',
    });
    const both = { img: [sdxl], other: [sdxl] };
    expect(resolved('sdxl', { slots, reported: both })).toEqual({ image: sdxl, model: 'sdxl' });
  });

  test('a built-in model that an upstream lists goes by its id', () => {
    const upstreams = [{ name: 'far', models: ['sdxl'] }];
    expect(resolved('sdxl', { upstreams })).toEqual({ image: null, model: 'sdxl' });
    const slots = [image('other', null)];
    expect(resolved('sdxl', { slots, upstreams, reported: { other: [sdxl] } })).toEqual({
      ...{ image: sdxl, model: 'sdxl' },
    });
    const cold = [{ name: 'cold', isCold: true }];
    expect(resolved('sdxl', { upstreams: cold })).toEqual({ image: null, model: 'sdxl' });
    expect(resolved('sdxl', {})).toEqual({ image: sdxl, model: 'sdxl' });
  });

  test('a file that an engine reported', () => {
    const slots = [image('img', null), image('other', null)];
    const on = { slots, reported: { img: [], other: [DREAMS] } };
    expect(resolved('dreams.safetensors', on)).toEqual({ image: DREAMS, model: 'svc/other' });
    expect(resolved('Dreams', on)).toEqual({ image: DREAMS, model: 'svc/other' });
  });

  test('a file name is looked up at an engine that was not queried', () => {
    const slots = [image('cpp', null, 'sd-server'), image('a', null), image('b', null)];
    const on = { slots, reported: { a: [] } };
    expect(resolved('x.safetensors', on)).toEqual({ image: null, model: 'svc/b', unknownAt: 'b' });
    expect(refused('x.safetensors', { slots, reported: { a: [], b: [] } }).code).toBe(
      'image.model_not_curated',
    );
    expect(refused('x', on).code).toBe('image.model_not_curated');
  });

  test.each([
    ['of unknown type', 'paint-1', true],
    ['that its name says draws', 'gpt-image-1', true],
    ['that its name says embeds', 'text-embedding-3-small', false],
  ])('a model of an upstream %s', (_, name, isServed) => {
    const on = { upstreams: [{ name: 'far', models: [name] }] };
    if (isServed) expect(resolved(name, on)).toEqual({ image: null, model: name });
    else expect(refused(name, on).code).toBe('image.model_not_curated');
  });

  test('the type that an upstream lists counts before the name', () => {
    const listed = (type: 'image' | 'llm') =>
      routingView({
        upstreams: [
          {
            ...upstreamConfigOf({ name: 'far' }),
            models: [{ id: 'text-embedding-x', type, context: null, created: null }],
          },
        ],
      });
    expect(resolveImageModel('text-embedding-x', listed('image'), reporting()).image).toBeNull();
    expect(imageModelNames(listed('image'), reporting())).toEqual(['text-embedding-x']);
    expect(() => resolveImageModel('text-embedding-x', listed('llm'), reporting())).toThrow();
    expect(imageModelNames(listed('llm'), reporting())).toEqual([]);
  });

  test('an upstream whose list was not read may have any model', () => {
    expect(resolved('any', { upstreams: [{ name: 'cold', isCold: true }] })).toEqual({
      ...{ image: null, model: 'any' },
    });
  });

  test('the refusal has the names that requests can use', () => {
    const slots = [image('img', 'sdxl'), image('other', null)];
    const upstreams = [{ name: 'far', models: ['gpt-image-1', 'gpt-4o', 'sdxl'] }];
    expect(
      refused('nope', { slots, upstreams, reported: { other: [DREAMS, sdxl] } }).options.details,
    ).toEqual({
      models: ['sdxl', 'dreams.safetensors', 'gpt-image-1'],
    });
    expect(refused('nope', {})).toMatchObject({
      ...{
        code: 'image.model_not_curated',
        message: expect.stringMatching(/^No image engine is configured/),
      },
    });
  });
});
