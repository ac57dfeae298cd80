import { expect, test } from 'vitest';
import { readCatalog, SHIPPED_CATALOG, splitPullName } from '../catalog.ts';
import { CURATED, curatedModel } from './curated.ts';

test.each([
  ['sd15', 'sd15'],
  ['SD-1.5', 'sd15'],
  ['v1-5-pruned-emaonly', 'sd15'],
  ['/models/checkpoints/v1-5-pruned-emaonly.safetensors', 'sd15'],
  ['sdxl', 'sdxl'],
  ['sd_xl_base_1.0.safetensors', 'sdxl'],
  ['sd-xl-base-1.0', 'sdxl'],
  ['sdxl-turbo', 'sdxl-turbo'],
  ['flux', 'flux-schnell'],
  ['flux1-dev-fp8', 'flux-dev'],
])('%s resolves to %s', (name, id) => {
  expect(curatedModel(name)?.id).toBe(id);
});

test.each(['', 'img', 'dall-e-3', 'sdxl2', 'constructor', '../sdxl/..'])('%j matches nothing', (name) => {
  expect(curatedModel(name)).toBeUndefined();
});

test('a name longer than a file name matches nothing', () => {
  expect(curatedModel(`sdxl${'_'.repeat(200)}turbo`)?.id).toBe('sdxl-turbo');
  expect(curatedModel(`sdxl${'_'.repeat(300)}turbo`)).toBeUndefined();
  expect(curatedModel(`/${'models/'.repeat(100)}sdxl`)?.id).toBe('sdxl');
});

test('no two models share a name, and each is within the limits of requests', () => {
  const names = CURATED.flatMap((model) => [
    model.id,
    ...model.aliases,
    ...model.checkpoints,
    ...model.diffusionModels,
  ]);
  expect(new Set(names).size).toBe(names.length);
  for (const { width, height, steps, maxSteps, checkpoints, diffusionModels, id } of CURATED) {
    expect([width % 8, height % 8], id).toEqual([0, 0]);
    expect(steps, id).toBeLessThanOrEqual(maxSteps);
    expect(checkpoints.length + diffusionModels.length, id).toBeGreaterThan(0);
  }
});

test('a model of the catalogue has the same licence everywhere', () => {
  const both = CURATED.flatMap(({ checkpoints, licence }) =>
    readCatalog(SHIPPED_CATALOG)
      .entries.filter(({ model }) => checkpoints.includes(splitPullName(model).file ?? ''))
      .map((row) => [row.name, row.licence, licence]),
  );
  expect(both.length).toBeGreaterThan(0);
  for (const [, fetched, drawn] of both) expect(drawn).toBe(fetched);
});
