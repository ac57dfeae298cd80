import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries.ts';
import type { Responses } from '../../../api/responses.ts';
import {
  ABILITIES,
  type Ability,
  type Choice,
  chosenModel,
  type ModelGroup,
  modelsWith,
  unavailableMessage,
} from './models.ts';

export interface ModeModels extends Choice {
  readonly query: UseQueryResult<Responses['v1.models']>;
  readonly groups: readonly ModelGroup[];
  /** The model name for requests. */
  readonly id: string;
  /** Why nothing can be sent; null when it can. */
  readonly lacks: string | null;
}

/** The models of a mode and the selected one; `chosen` is empty without a selection. */
export function useModels(ability: Ability, chosen: string): ModeModels {
  const query = useQuery(queries.allModels);
  const groups = modelsWith(ability, query.data?.data ?? []);
  const { usual } = ABILITIES[ability];
  const { model, unavailable } = chosenModel(groups, chosen, usual);
  // Use the selected name also while the list is loading; never fall back to another model.
  const id = model?.id ?? (chosen === '' ? usual : chosen);
  return {
    query,
    groups,
    model,
    unavailable,
    id,
    lacks: unavailable === null ? null : unavailableMessage(unavailable),
  };
}
