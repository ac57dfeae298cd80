import type { ModelSpeedView } from '../contract/catalog.ts';

/** The share of the memory bandwidth that engines reach when they generate. */
const SHARE = { low: 0.45, high: 0.8 } as const;
/** Time of one token that does not depend on the size of the model, in seconds. */
const TOKEN_S = 0.003;
/** Bytes of weights that one core evaluates per second. */
const CORE_BYTES_PER_SECOND = 6.5e9;

export interface SpeedInput {
  /** Bytes of the weights that one token reads. */
  readonly activeBytes: number;
  /** Bytes per second that the device reads of its memory. */
  readonly bandwidth: number;
  /** Physical cores of a processor that evaluates the model; null on a graphics card. */
  readonly cores: number | null;
}

/**
 * Estimates the tokens per second of one request, as a range (docs/spec/contract.md#expected-speed): a token reads the
 * active weights once, from memory of a known bandwidth.
 */
export function estimateSpeed({ activeBytes, bandwidth, cores }: SpeedInput): ModelSpeedView {
  const rate = Math.min(bandwidth, cores === null ? bandwidth : cores * CORE_BYTES_PER_SECOND);
  const at = (share: number) => 1 / (activeBytes / (rate * share) + TOKEN_S);
  return { low: rounded(at(SHARE.low)), high: rounded(at(SHARE.high)), measured: false };
}

/** Rounds to two digits, because the estimate is no better. */
const rounded = (value: number): number => Number(value.toPrecision(2));
