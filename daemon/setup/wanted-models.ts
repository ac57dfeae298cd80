import { invalidRequest } from '../contract/invalid-request.ts';
import type { SetupApplyBody } from '../contract/setup.ts';
import { type KnownModel, typeOf } from '../models/catalog.ts';
import type { Catalog } from '../models/catalog-store.ts';
import { SETUP_SLOT_TYPES } from './purpose-slots.ts';

/** 422 for one part of a request; the value itself is never repeated. */
export const refused = (path: string, reason: string) => invalidRequest([{ path, reason }]);

/** A model of the catalogue, and the slot that it is for. */
export type WantedModel = { readonly known: KnownModel; readonly slot: string };

/** The catalogue rows that a request names, each with the slot that it is for. Throws `request.invalid`. */
export function wantedModels(
  models: NonNullable<SetupApplyBody['models']>,
  catalog: Pick<Catalog, 'find'>,
): WantedModel[] {
  return models.map(({ slot, model }, index) => {
    const known = catalog.find(model);
    if (known === undefined) throw refused(`models.${index}.model`, 'is not in the catalogue');
    if (SETUP_SLOT_TYPES.get(slot) !== typeOf(known))
      throw refused(`models.${index}.slot`, 'is not a slot for a model of this type');
    if (models.findIndex((one) => one.slot === slot) !== index)
      throw refused(`models.${index}.slot`, 'is named twice');
    return { known, slot };
  });
}
