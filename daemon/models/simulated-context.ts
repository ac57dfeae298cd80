import { type ContextMemory, cacheBytes } from './context-memory.ts';

/**
 * What llama.cpp itself says about a context of one size, from a simulation without weights
 * (docs/adr/0058-simulated-context-memory.md). All values are for the CPU and two-byte keys and values.
 */
export interface SimulatedPoint {
  /** Tokens of the window. */
  readonly context: number;
  /** Bytes of keys, values and states of one sequence. */
  readonly windowBytes: number;
  /** Bytes of the buffers for each token of a step, without the logits of a known vocabulary. */
  readonly stepBytes: number;
}

/** Points by ascending window; empty when the library cannot simulate the model. */
export type SimulatedContext = readonly SimulatedPoint[];

/** Tokens of one step in the simulation. */
export const SIMULATED_BATCH = 512;
/** The windows that are simulated, in tokens; the trained window limits and completes them. */
const CONTEXTS = [1024, 8192, 32_768, 131_072];
/** A closed form that differs more from the simulation does not describe the model. */
const TOLERANCE = 0.03;

/** Returns the windows to simulate for a trained window; all of them when it is unknown. */
export function simulatedWindows(trained: number | null): number[] {
  if (trained === null) return CONTEXTS;
  return [...new Set([...CONTEXTS.filter((context) => context < trained), trained])];
}

/** Returns a value between two points in proportion, and beyond the last one in proportion to the window. */
function valueAt(
  points: SimulatedContext,
  context: number,
  value: (point: SimulatedPoint) => number,
): number {
  const after = points.find((point) => point.context >= context);
  const before = points.findLast((point) => point.context <= context);
  if (before === undefined || after === undefined) {
    const [edge, factor] =
      after === undefined && before !== undefined
        ? [before, context / before.context]
        : [after as SimulatedPoint, 1];
    return value(edge) * factor;
  }
  if (after.context === before.context) return value(after);
  const share = (context - before.context) / (after.context - before.context);
  return value(before) + share * (value(after) - value(before));
}

/** Returns the bytes of keys, values and states of one sequence. `points` must not be empty. */
export const simulatedWindowBytes = (points: SimulatedContext, context: number): number =>
  Math.ceil(valueAt(points, context, ({ windowBytes }) => windowBytes));

/** Returns the bytes of the buffers for one token of a step, without logits. `points` must not be empty. */
export const simulatedStepBytes = (points: SimulatedContext, context: number): number =>
  valueAt(points, context, ({ stepBytes }) => stepBytes);

/** Returns whether the closed form describes the model, as far as it was simulated. */
export const isConfirmed = (memory: ContextMemory, points: SimulatedContext): boolean =>
  points.every(
    ({ context, windowBytes }) =>
      Math.abs(cacheBytes(memory, { context, stepCells: SIMULATED_BATCH + 1 }) - windowBytes) <=
      TOLERANCE * windowBytes,
  );
