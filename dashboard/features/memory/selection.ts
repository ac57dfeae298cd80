/** The selected notes, and the search that they belong to. */
export interface Chosen {
  readonly q: string;
  readonly ids: ReadonlySet<string>;
}

/** An empty selection for a search. */
export const noneChosen = (q: string): Chosen => ({ q, ids: new Set() });

/** Adds or removes one note. */
export function toggled({ q, ids }: Chosen, id: string): Chosen {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { q, ids: next };
}

/** The selected ids of a list. Ignores ids that the list no longer shows. */
export function chosenOf({ ids }: Chosen, listed: readonly { id: string }[]): string[] {
  return listed.flatMap(({ id }) => (ids.has(id) ? [id] : []));
}
