import type { ActiveResponse } from './response-state.ts';
import type { Step } from './step.ts';

/** Maximum responses outside the conversation that run at once (docs/spec/contract.md#realtime-out-of-band). */
export const MAX_SIDE_RESPONSES = 8;

/**
 * Runs `work` while this response is `step.state.response`, so that all rules for responses apply to it. The
 * response of the conversation stays unchanged. A response that ended is removed.
 */
export function runAsCurrent(step: Step, response: ActiveResponse, work: () => void): void {
  const main = step.state.response;
  const others = step.state.sideResponses.filter(({ id }) => id !== response.id);
  step.set({ response, sideResponses: others });
  work();
  const { response: rest, sideResponses } = step.state;
  step.set({ response: main, sideResponses: rest === null ? sideResponses : [...sideResponses, rest] });
}

export const sideResponse = (step: Step, id: string | null | undefined): ActiveResponse | undefined =>
  step.state.sideResponses.find((response) => response.id === id);

/** Runs `work` for the response of the conversation, then for each one outside it. */
export function forEachResponse(step: Step, work: () => void): void {
  const sides = step.state.sideResponses;
  work();
  for (const { id } of sides) {
    const side = sideResponse(step, id);
    if (side !== undefined) runAsCurrent(step, side, work);
  }
}
