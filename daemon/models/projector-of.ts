import { basename, dirname, join, sep } from 'node:path';
import { modelStem } from './split-files.ts';

const QUANTISATION = /[-_.](ud-)?((i?q\d\w*|bf16|f16|f32|fp16|mxfp4)(_[a-z0-9]+)*)$/i;
/** The first available is used. Half precision is enough for a projector. */
const ORDER = [/(^|[-_.])f16([-_.]|$)/i, /bf16/i, /q8_0/i];

/** Returns the name of a model without its quantisation, in lower case. */
const familyOf = (path: string): string => modelStem(path).replace(QUANTISATION, '').toLowerCase();

/** Returns the model that a projector names. Empty when its name contains none. */
const meantBy = (path: string): string =>
  `-${modelStem(path)}`
    .replace(QUANTISATION, '')
    .replace(/[-_.]mmproj/gi, '')
    .replace(/[-_.](model|vision)$/gi, '')
    .replace(/^[-_.]+/, '')
    .toLowerCase();

const rank = (path: string): number => {
  const found = ORDER.findIndex((pattern) => pattern.test(modelStem(path)));
  return found === -1 ? ORDER.length : found;
};

const best = (a: string, b: string) => rank(a) - rank(b) || (basename(a) < basename(b) ? -1 : 1);

/** Returns the best projector of a folder for a model with these siblings, itself included. */
function projectorIn(
  folder: string,
  projectors: readonly string[],
  model: string,
  siblings: () => readonly string[],
): string | null {
  const there = projectors.filter((path) => dirname(path) === folder);
  if (there.length === 0) return null;
  const families = new Set(siblings().map(familyOf));
  const own = familyOf(model);
  const fits = (path: string) => {
    const meant = meantBy(path);
    return meant === '' ? families.size === 1 : own === meant || own.startsWith(`${meant}-`);
  };
  return there.filter(fits).sort(best)[0] ?? null;
}

/**
 * Returns the projector of a model: in its folder, else in the parent folder, where repositories keep one for
 * parts in subfolders. It must be named after the model, or be the only one in a folder with one model (in
 * any quantisations; for the parent folder including all subfolders). Null when there is none or the choice
 * is ambiguous. Pure.
 */
export function projectorOf(
  model: string,
  models: readonly string[],
  projectors: readonly string[],
): string | null {
  const folder = dirname(model);
  const above = dirname(folder);
  const here = () => models.filter((path) => dirname(path) === folder);
  const below = () => models.filter((path) => path.startsWith(join(above, sep)));
  return projectorIn(folder, projectors, model, here) ?? projectorIn(above, projectors, model, below);
}
