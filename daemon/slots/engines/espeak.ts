import { commonLaunch } from './common.ts';
import type { Engine, Launch, LaunchOrder } from './engine.ts';
import { IN_SPEECH_WORKER, speechHow } from './speech.ts';

function plan(order: LaunchOrder): Launch {
  const common = commonLaunch(order, { nativeRerank: false, model: order.model.id });
  const launch = { ...common, device: 'cpu', threads: 1 };
  return { ...launch, how: speechHow(launch, 'espeak', order.queueLimit) };
}

/** espeak-ng: one short process for each request, no weights; a voice for machines that have no other. */
export const espeak: Engine = {
  ...IN_SPEECH_WORKER,
  id: 'espeak',
  types: new Set(['tts']),
  modelSource: () => 'name',
  plan,
};
