/** Which memories were chosen, and under which words they were looked for. */
export interface Chosen {
  readonly q: string;
  readonly ids: ReadonlySet<string>;
}

/** Nothing chosen yet under these words. */
export const noneChosen = (q: string): Chosen => ({ q, ids: new Set() });

/** The same with one memory more, or less if it was chosen already. */
export function toggled({ q, ids }: Chosen, id: string): Chosen {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { q, ids: next };
}

/** What is chosen of a list: only what its reader sees there may be acted upon. */
export function chosenOf({ ids }: Chosen, listed: readonly { id: string }[]): string[] {
  return listed.flatMap(({ id }) => (ids.has(id) ? [id] : []));
}
