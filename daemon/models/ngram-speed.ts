import type { NgramSpeedView } from '../contract/bench.ts';

/** Generated tokens per second with and without predictions from the text. */
export type NgramSpeed = NgramSpeedView;

/** Predictions are used when text that repeats is at least this much faster … */
const MIN_GAIN = 1.1;
/** … and other text is not slower than this share. Two measurements of the same speed differ by about so much. */
const MIN_PLAIN_SHARE = 0.95;

const ratio = ({ off, ngram }: { off: number; ngram: number }): number => (off > 0 ? ngram / off : 0);

/** Returns whether predictions make this model faster. */
export const isFasterAhead = ({ repeats, plain }: NgramSpeed): boolean =>
  ratio(repeats) >= MIN_GAIN && ratio(plain) >= MIN_PLAIN_SHARE;

/** Returns what was measured, as the end of a sentence. */
export function gainText({ repeats, plain }: NgramSpeed): string {
  const times = (speed: { off: number; ngram: number }) => `${ratio(speed).toFixed(2)} times the speed`;
  return `svcctl bench measured ${times(repeats)} for text that repeats and ${times(plain)} for other text`;
}
