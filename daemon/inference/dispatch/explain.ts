import { GatewayError } from '../../contract/errors.ts';
import type { LoadForecastView, SlotRecord } from '../../contract/slots.ts';
import type { ExplainView } from '../../contract/system.ts';
import { rewriteAddress } from '../rewrite/deviations.ts';
import { type Address, plainAddress } from './address.ts';
import { type Resolution, refusal, resolve } from './dispatch.ts';
import { triedSteps, wholeLadder } from './ladder.ts';
import { modelOmitted } from './model-omitted.ts';
import { pathRow } from './paths.ts';
import { isLoaded, type Picture, slotNamed } from './picture.ts';

export interface ExplainInput {
  readonly path: string;
  readonly model?: string;
  readonly body?: Record<string, unknown>;
}

/** What a load of a slot would do now; null when nobody can tell. */
export type ForecastLoad = (slot: string) => LoadForecastView | null;

/** Replays the decision of `POST /api/dispatch/explain` on one picture: nothing is sent, loaded or fetched. */
export function explain(input: ExplainInput, picture: Picture, forecast: ForecastLoad): ExplainView {
  const asked = askedModel(input);
  const base = { path: input.path, model: asked };
  try {
    const address = rewriteAddress(modelOmitted(plainAddress(asked), input.path, picture), picture);
    return { ...base, ...decided(input.path, address, picture, forecast) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { ...base, ...NOBODY, lane: null, steps: [], error: told(error) };
  }
}

const NOBODY = { slot: null, upstream: null, would_load: false, queue_position: 0, load: null };

function askedModel({ model, body }: ExplainInput): string | null {
  const named = model ?? body?.model;
  return typeof named === 'string' && named.trim() !== '' ? named : null;
}

type Explained = Omit<ExplainView, 'path' | 'model'>;

function decided(path: string, address: Address, picture: Picture, forecast: ForecastLoad): Explained {
  const ask = { path, type: pathRow(path).type, address };
  const first = resolve(ask, picture);
  const resolution = first.fetch
    ? withoutFetch(first, resolve(ask, { ...seen(picture), liveAsked: true }))
    : first;
  const error = refusal(ask, picture, resolution);
  const { target } = resolution;
  const slot = target?.kind === 'slot' ? slotNamed(picture, target.slot) : undefined;
  return {
    steps: wholeLadder(triedSteps(resolution.trace)),
    slot: slot?.name ?? null,
    upstream: target?.kind === 'upstream' ? target.upstream : null,
    lane: address.lane,
    would_load: slot !== undefined && !isLoaded(slot),
    queue_position: slot === undefined ? 0 : placeIn(slot),
    load: slot !== undefined && AT_REST.includes(slot.state) ? forecast(slot.name) : null,
    error: error && told(error),
  };
}

const AT_REST: readonly SlotRecord['state'][] = ['offline', 'error'];

/** Where a new request would stand in the queue, counted from 1; 0 when it would be served at once. */
const placeIn = (slot: SlotRecord): number =>
  slot.queued > 0 || slot.active >= slot.parallel || !isLoaded(slot) ? slot.queued + 1 : 0;

/** The same picture as a plain object: its lists may be read on demand. */
const seen = ({ slots, models, upstreams, npuSuffix }: Picture) => ({ slots, models, upstreams, npuSuffix });

/** A step that would fetch is told as skipped; what comes after it is decided without it. */
function withoutFetch(first: Resolution, rest: Resolution): Resolution {
  const known = first.trace.slice(0, -1);
  const fetching = first.trace.at(-1);
  const skipped = fetching
    ? [{ step: fetching.step, outcome: { is: 'pass', reason: fetching.outcome.reason } as const }]
    : [];
  return { ...rest, trace: [...known, ...skipped, ...rest.trace.slice(known.length + 1)] };
}

const told = ({ code, message }: GatewayError) => ({ code, message });
