import { basename, dirname } from 'node:path';
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

/**
 * The projector that belongs to a model: in its folder, and either named after it or the folder's only one of a folder with one
 * model (in whatever quantisations). Null when none does, or when that is not clear. Pure.
 */
export function projectorOf(
  model: string,
  models: readonly string[],
  projectors: readonly string[],
): string | null {
  const here = (path: string) => dirname(path) === dirname(model);
  const families = new Set(models.filter(here).map(familyOf));
  const own = familyOf(model);
  const fits = (path: string) => {
    const meant = meantBy(path);
    return meant === '' ? families.size === 1 : own === meant || own.startsWith(`${meant}-`);
  };
  const all = projectors.filter((path) => here(path) && fits(path));
  const best = (a: string, b: string) => rank(a) - rank(b) || (basename(a) < basename(b) ? -1 : 1);
  return all.sort(best)[0] ?? null;
}
