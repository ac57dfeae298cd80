import { z } from 'zod';
import { SETUP_STEPS, SetupStepState, SetupWorkPhase } from '../contract/setup.ts';

/** The fact that holds the state over restarts. */
export const STATE_KEY = 'setup.state';

/** One model of the set on its way into its slot. */
const Work = z.object({
  slot: z.string(),
  model: z.string(),
  name: z.string(),
  /** Window for the slot file; null leaves the engine's default. */
  context: z.number().int().nullable(),
  phase: SetupWorkPhase,
  /** Id of the download, and of the model once it is registered. */
  pull: z.string().nullable(),
  modelId: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
const State = z.object({
  steps: z.object({ models: SetupStepState, reach: SetupStepState, key: SetupStepState }),
  finished: z.boolean(),
  work: z.array(Work).max(16),
  /** Folders of Ollama that were taken in, whose links are renewed before each look at the model folders. */
  ollama: z.array(z.string()).max(16),
});

export type SetupJob = z.infer<typeof Work>;
export type SetupState = z.infer<typeof State>;

/** Of a fresh install. */
export const FRESH: SetupState = {
  steps: { models: 'open', reach: 'open', key: 'open' },
  finished: false,
  work: [],
  ollama: [],
};

/** What was kept; a text that is none of ours is a fresh install. */
export function readState(text: string | null): SetupState {
  if (text === null) return FRESH;
  try {
    const read = State.safeParse(JSON.parse(text));
    return read.success ? read.data : FRESH;
  } catch {
    return FRESH;
  }
}

/** Whether somebody has done anything in setup. */
export const isTouched = ({ steps, work }: SetupState): boolean =>
  work.length > 0 || SETUP_STEPS.some((id) => steps[id] !== 'open');
