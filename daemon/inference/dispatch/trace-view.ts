import type { ExplainStepView } from '../../contract/system.ts';
import type { ResolutionInfo } from '../../telemetry/request-trace.ts';
import { type Resolution, STEPS, type Trace } from './dispatch.ts';
import type { ModelRef } from './model-ref.ts';

/** Renders the steps that were tried. */
export function triedSteps(trace: readonly Trace[]): ExplainStepView[] {
  return trace.map(({ step, outcome: { is, reason } }) => ({
    step,
    outcome: is === 'match' ? 'matched' : 'failed',
    reason,
  }));
}

/** Returns what the request log stores of a resolution; rendered on demand. */
export const resolutionInfo = (
  { by, lane, alias }: ModelRef,
  { trace }: Resolution,
  isFallback: boolean,
): ResolutionInfo => ({
  rule: isFallback ? 'fallback' : (alias?.kind ?? by),
  lane,
  steps: () => triedSteps(trace),
});

/**
 * Returns all steps of docs/spec/specification.md#dispatch-steps in order, after the steps that came before
 * them: first the steps that were tried, then the rest as skipped.
 */
export function allSteps(tried: readonly ExplainStepView[]): ExplainStepView[] {
  const before = tried.filter(({ step }) => !STEPS.some(({ name }) => name === step));
  const rows = STEPS.map(
    ({ name }): ExplainStepView =>
      tried.find(({ step }) => step === name) ?? {
        step: name,
        outcome: 'skipped',
        reason: 'not needed',
      },
  );
  return [...before, ...rows];
}
