import { basename, dirname, join, sep } from 'node:path';
import { modelStem } from './split-files.ts';

const QUANTISATION = /[-_.](ud-)?((i?q\d\w*|bf16|f16|f32|fp16|mxfp4)(_[a-z0-9]+)*)$/i;
/** The first that is there; half precision is enough for a projector. */
const ORDER = [/(^|[-_.])f16([-_.]|$)/i, /bf16/i, /q8_0/i];

/** The name of a model without its quantisation, folded. */
const familyOf = (path: string): string => modelStem(path).replace(QUANTISATION, '').toLowerCase();

/** What a projector says of the model it belongs to; empty when its name says nothing. */
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

/** The best projector of a folder for a model beside which these others lie, itself among them. */
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
 * The projector that belongs to a model: in its folder, else in the one above, where repositories keep one for the parts in their
 * folders; and either named after it or that folder's only one of a folder with one model (in whatever quantisations, and above
 * with all that is in its folders). Null when none does, or when that is not clear. Pure.
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
