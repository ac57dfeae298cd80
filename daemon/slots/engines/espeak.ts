import { commonLaunch } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import { IN_SPEECH_WORKER, speechSpec } from './speech.ts';

function plan(params: LaunchParams): Launch {
  const common = commonLaunch(params, { nativeRerank: false, model: params.model.id });
  const launch = { ...common, device: 'cpu', threads: 1 };
  return { ...launch, how: speechSpec(launch, 'espeak', params.queueLimit) };
}

/**
 * espeak-ng: one short process for each request, without weights. A fallback voice for machines that have no other.
 */
export const espeak: Engine = {
  ...IN_SPEECH_WORKER,
  id: 'espeak',
  types: new Set(['tts']),
  modelSource: () => 'name',
  plan,
};
