import { GatewayError } from '../../contract/errors.ts';
import { engineOf } from '../../slots/engines/table.ts';
import type { Walk } from '../call.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { type BodyPicture, IN_SPEECH, modelOf, scanBody } from '../rewrite/body-index.ts';
import { render } from '../rewrite/edits.ts';
import { modelValue } from '../rewrite/model-value.ts';
import { oneValue } from '../rewrite/one-value.ts';
import type { InferenceCall } from '../serve.ts';
import type { Prepared, Reading } from '../tasks.ts';
import { SOUND_TYPES } from './formats.ts';
import { openPipe, SpeechAnswer } from './speech-answer.ts';
import { type SpeechAsk, type SpeechPlan, type SpeechTarget, speechAsk, speechPlan } from './speech-plan.ts';

/** A speech request as far as the gateway reads it. */
interface SpeechReading extends Reading {
  readonly picture: BodyPicture;
  readonly ask: SpeechAsk;
}

/**
 * Speech: model, format and kind of stream are read; all else is the engine's. Throws 400 `request.missing_model`, and 422
 * `request.invalid` for what no engine can say.
 */
export function readSpeech({ body }: InferenceCall): SpeechReading {
  const picture = scanBody(body, IN_SPEECH);
  // Looked at before anything else: whatever is wrong besides, a missing model is told as that.
  const asked = modelOf(picture);
  if (asked === null) throw new GatewayError('request.missing_model', { param: 'model' });
  const ask = speechAsk(picture);
  return {
    model: asked,
    stream: ask.events,
    omni: false,
    picture,
    ask,
    body: (_, model) => render(picture, [...oneValue(picture), ...modelValue(picture, asked, model)]),
  };
}

async function targetOf({ deps }: Walk, { target }: Decision): Promise<SpeechTarget> {
  if (target.kind !== 'slot') return { defaults: null, makes: null, encodable: new Set() };
  const config = deps.slots.config(target.slot);
  const engine = deps.slots.get(target.slot)?.engine;
  const makes = engine === undefined ? null : (engineOf(engine)?.speechFormats ?? null);
  const encodable = makes === null ? new Set<never>() : await deps.encoders.formats();
  return { defaults: config?.voice ?? null, makes, encodable };
}

function sinkFor({ answer, life, deps }: Walk, plan: SpeechPlan): SpeechAnswer | null {
  if (plan.format === null || !(plan.encoded || plan.events)) return null;
  const pipe = plan.encoded ? deps.encoders.open(plan.format, life.signal) : openPipe();
  return new SpeechAnswer({ answer, life, pipe, events: plan.events, type: SOUND_TYPES[plan.format] });
}

/** Decides, before anything is loaded, what the engine is asked for and what is made of its sound. */
export async function prepareSpeech(on: Walk, reading: Reading, decision: Decision): Promise<Prepared> {
  const { picture, ask, model: asked } = reading as SpeechReading;
  const plan = speechPlan(picture, ask, await targetOf(on, decision));
  return {
    body: (_, model) =>
      render(picture, [...oneValue(picture), ...modelValue(picture, asked, model), ...plan.edits]),
    sink: () => sinkFor(on, plan),
  };
}
