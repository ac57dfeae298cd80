/** A number with its noun: `1 thread`, `2 threads`. */
export const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
