import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { queries } from '../../../api/queries.ts';
import type { Responses } from '../../../api/responses.ts';
import { ABILITIES, type Ability, chosenModel, type ModelGroup, modelsThat } from './models.ts';

export interface ModeModels {
  readonly query: UseQueryResult<Responses['v1.models']>;
  readonly groups: readonly ModelGroup[];
  /** The one that is asked; null while nothing can be. */
  readonly model: V1ModelRecord | null;
}

/** The models of a mode, and which of them is asked; `chosen` is empty while nobody chose. */
export function useModels(ability: Ability, chosen: string): ModeModels {
  const query = useQuery(queries.allModels);
  const groups = modelsThat(ability, query.data?.data ?? []);
  return { query, groups, model: chosenModel(groups, chosen, ABILITIES[ability].usual) };
}
