import { chatBody } from './bodies.ts';
import { closedLoop, type Figures } from './load-closed.ts';
import type { Machine } from './machine.ts';
import type { Target } from './targets.ts';

/** One size of a growing request. */
export interface Step {
  /** Suffix of its figure. */
  readonly name: string;
  /** Bytes or messages. */
  readonly size: number;
  readonly body: string;
}

const KB = 1024;
const MB = 1024 * KB;
const MESSAGE_BYTES = 280;

/** Chats of growing length with 20 messages each. */
export const GROWING_BODY: readonly Step[] = (
  [
    ['1kb', KB],
    ['64kb', 64 * KB],
    ['1mb', MB],
    ['4mb', 4 * MB],
    ['16mb', 16 * MB],
  ] as const
).map(([name, size]) => ({ name, size, body: chatBody({ bytes: size, turns: 20 }) }));

/** Chats with a growing number of messages. */
export const GROWING_HISTORY: readonly Step[] = [1, 10, 100, 500, 2_000].map((size) => ({
  name: `n${size}`,
  size,
  body: chatBody({ bytes: size * MESSAGE_BYTES, turns: size }),
}));

/** Two connections, so that large bodies do not wait for each other. */
const LOAD = { connections: 2, secs: 1 };

/** The cost of one more byte or message between two steps. */
const slope = (cost: readonly number[], steps: readonly Step[], from: number, to: number): number =>
  ((cost[to] as number) - (cost[from] as number)) / ((steps[to] as Step).size - (steps[from] as Step).size);

/**
 * Measures CPU microseconds per request at each size, and `growth`: the slope between the last two sizes divided by the slope
 * from the first to the second-last size. 1 is linear.
 */
export async function growth(machine: Machine, target: Target, steps: readonly Step[]): Promise<Figures> {
  const cost: number[] = [];
  let bad = 0;
  for (const { body } of steps) {
    const figures = await closedLoop(machine, target, { ...LOAD, body });
    cost.push(figures.cpu_us_req ?? Number.NaN);
    bad += figures.bad ?? 0;
  }
  const last = steps.length - 1;
  const perSize = steps.map(({ name }, index) => [`us_${name}`, cost[index] as number]);
  return {
    ...Object.fromEntries(perSize),
    growth: slope(cost, steps, last - 1, last) / slope(cost, steps, 0, last - 1),
    bad,
  };
}
