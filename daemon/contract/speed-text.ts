import type { ModelSpeedView } from './catalog.ts';

/** Returns a speed as a range, for example `12–21 tokens/s`. */
export function speedText({ low, high, measured }: ModelSpeedView): string {
  const range = low === high ? String(low) : `${low}–${high}`;
  return `${measured ? '' : 'about '}${range} tokens/s`;
}

/** Speeds in tokens per second, and what they feel like. People read about five words per second. */
const FEELINGS: readonly (readonly [below: number, text: string])[] = [
  [4, 'slower than reading'],
  [10, 'about as fast as reading'],
  [30, 'faster than reading'],
];

/** Returns what a speed feels like, by the middle of its range. */
export function speedFeeling({ low, high }: Pick<ModelSpeedView, 'low' | 'high'>): string {
  const middle = (low + high) / 2;
  return FEELINGS.find(([below]) => middle < below)?.[1] ?? 'fast';
}
