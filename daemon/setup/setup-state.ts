import { z } from 'zod';
import { SETUP_STEPS, SetupStepState, SetupWorkPhase } from '../contract/setup.ts';

/** Store key of the setup state. */
export const STATE_KEY = 'setup.state';

/** The job that loads one model of the set into its slot. */
const Work = z.object({
  slot: z.string(),
  model: z.string(),
  name: z.string(),
  /** Context for the slot file; null uses the engine's default. */
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
  /** Ollama folders in use. Their links are updated before each scan of the model folders. */
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

/** Parses the stored state. Invalid text counts as a fresh install. */
export function readState(text: string | null): SetupState {
  if (text === null) return FRESH;
  try {
    const read = State.safeParse(JSON.parse(text));
    return read.success ? read.data : FRESH;
  } catch {
    return FRESH;
  }
}

/** Whether any step of the setup was used. */
export const isTouched = ({ steps, work }: SetupState): boolean =>
  work.length > 0 || SETUP_STEPS.some((id) => steps[id] !== 'open');
