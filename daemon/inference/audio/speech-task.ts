import { GatewayError } from '../../contract/errors.ts';
import { stringAt } from '../../lib/json/byte-scanner.ts';
import { speakable } from '../../lib/text/speakable.ts';
import { engineOf } from '../../slots/engines/table.ts';
import type { CallContext, InferenceCall, ParsedRequest, PreparedRequest } from '../call-context.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { type BodyIndex, fieldOf, invalid, modelOf, SPEECH_NAMES, scanBody } from '../rewrite/body-index.ts';
import { render } from '../rewrite/edits.ts';
import { setModel } from '../rewrite/model-value.ts';
import { dropDuplicates } from '../rewrite/one-value.ts';
import { slotView } from '../slot-view.ts';
import { SOUND_TYPES } from './formats.ts';
import {
  parseSpeechRequest,
  type SpeechPlan,
  type SpeechRequest,
  type SpeechTarget,
  speechPlan,
} from './speech-plan.ts';
import { openPipe, SpeechResponse } from './speech-response.ts';

/** A speech request as far as the gateway parses it. */
interface ParsedSpeechRequest extends ParsedRequest {
  readonly index: BodyIndex;
  readonly request: SpeechRequest;
}

/**
 * Parses speech: model, format and stream type; the rest is the engine's. Throws 400 `request.missing_model`,
 * and 422 `request.invalid` for input that no engine accepts.
 */
export function readSpeech({ body }: InferenceCall): ParsedSpeechRequest {
  const index = scanBody(body, SPEECH_NAMES);
  // Checked first: a missing model is reported before any other fault.
  const requested = modelOf(index);
  if (requested === null) throw new GatewayError('request.missing_model', { param: 'model' });
  const request = parseSpeechRequest(index);
  return {
    model: requested,
    stream: request.events,
    omni: false,
    index,
    request,
    body: (_, model) => render(index, [...dropDuplicates(index), ...setModel(index, requested, model)]),
  };
}

/**
 * Returns the error for speech without any sound: the fault of the caller when the text contains nothing to
 * speak, else of the engine.
 */
export function withoutSound(reading: ParsedRequest): GatewayError {
  const { index } = reading as ParsedSpeechRequest;
  const field = fieldOf(index, 'input');
  const text = field === undefined ? null : stringAt(index.bytes, field.value);
  if (text !== null && !speakable(text)) return invalid('input', 'contains nothing that can be spoken');
  return new GatewayError('upstream.error', {
    message: 'The engine or upstream sent no sound.',
    details: { upstream_status: 200 },
  });
}

async function targetOf({ deps }: CallContext, { target }: Decision): Promise<SpeechTarget> {
  if (target.kind !== 'slot') return { defaults: null, nativeFormats: null, encodable: new Set() };
  const config = deps.slots.config(target.slot);
  const engine = slotView(deps.slots, target.slot)?.engine;
  const makes = engine === undefined ? null : (engineOf(engine)?.speechFormats ?? null);
  const encodable = makes === null ? new Set<never>() : await deps.encoders.formats();
  return { defaults: config?.voice ?? null, nativeFormats: makes, encodable };
}

function sinkFor({ response, scope, deps }: CallContext, plan: SpeechPlan): SpeechResponse | null {
  if (plan.format === null || !(plan.encoded || plan.events)) return null;
  const pipe = plan.encoded ? deps.encoders.open(plan.format, scope.signal) : openPipe();
  return new SpeechResponse({ response, scope, pipe, events: plan.events, type: SOUND_TYPES[plan.format] });
}

/** Plans the request and the encoding before the engine is loaded. */
export async function prepareSpeech(
  ctx: CallContext,
  reading: ParsedRequest,
  decision: Decision,
): Promise<PreparedRequest> {
  const { index, request, model: requested } = reading as ParsedSpeechRequest;
  const plan = speechPlan(index, request, await targetOf(ctx, decision));
  return {
    body: (_, model) =>
      render(index, [...dropDuplicates(index), ...setModel(index, requested, model), ...plan.edits]),
    sink: () => sinkFor(ctx, plan),
  };
}
