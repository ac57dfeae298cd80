import { checksOf } from './checks.ts';
import { commonLaunch } from './common.ts';
import type { Engine, Launch, LaunchOrder } from './engine.ts';
import { speechHow, speechObjection } from './speech.ts';

function plan(order: LaunchOrder): Launch {
  const common = commonLaunch(order, { nativeRerank: false, model: order.model.id });
  const launch = { ...common, device: 'cpu', threads: 1 };
  return { ...launch, how: speechHow(launch, 'espeak', order.queueLimit) };
}

/** espeak-ng: one short process for each request, no weights; a voice for machines that have no other. */
export const espeak: Engine = {
  id: 'espeak',
  types: new Set(['tts']),
  runners: new Set(['worker']),
  modelSource: () => 'name',
  objection: speechObjection,
  plan,
  context: () => 0,
  checks: (launch) => checksOf(launch, { health: '/health', models: true }),
  answersWhileServing: true,
  speechFormats: ['wav', 'pcm'],
};
