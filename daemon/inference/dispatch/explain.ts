import { GatewayError } from '../../contract/errors.ts';
import type { ExplainView } from '../../contract/system.ts';
import type { Foreseen } from '../../slots/foresee.ts';
import type { SlotGlance } from '../../slots/glance.ts';
import { rewriteAddress } from '../rewrite/deviations.ts';
import { FALLS_ON } from '../rewrite/load-model.ts';
import { type Address, plainAddress } from './address.ts';
import { type Decision, type Resolution, refusal, resolve } from './dispatch.ts';
import { followers } from './followers.ts';
import { triedSteps, wholeLadder } from './ladder.ts';
import { modelOmitted } from './model-omitted.ts';
import { pathRow } from './paths.ts';
import { isLoaded, type Picture, slotNamed } from './picture.ts';
import type { Target } from './resolver.ts';

export interface ExplainInput {
  readonly path: string;
  readonly model?: string;
  readonly body?: Record<string, unknown>;
}

/** What would become of a request for a slot now. */
export type Foresee = (slot: string) => Foreseen;

/** Replays the decision of `POST /api/dispatch/explain` on one picture: nothing is sent, loaded or fetched. */
export function explain(input: ExplainInput, picture: Picture, foresee: Foresee): ExplainView {
  const asked = askedModel(input);
  const base = { path: input.path, model: asked };
  try {
    const address = rewriteAddress(modelOmitted(plainAddress(asked), input.path, picture), picture);
    return { ...base, ...decided(input.path, address, picture, foresee) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { ...base, ...NOBODY, lane: null, steps: [], error: told(error) };
  }
}

const NOBODY = { slot: null, upstream: null, would_load: false, queue_position: 0, load: null, after: [] };

function askedModel({ model, body }: ExplainInput): string | null {
  const named = model ?? body?.model;
  return typeof named === 'string' && named.trim() !== '' ? named : null;
}

type Explained = Omit<ExplainView, 'path' | 'model'>;

function decided(path: string, address: Address, picture: Picture, foresee: Foresee): Explained {
  const ask = { path, type: pathRow(path).type, address };
  const first = resolve(ask, picture);
  const resolution = first.fetch
    ? withoutFetch(first, resolve(ask, { ...seen(picture), liveAsked: true }))
    : first;
  const refused = refusal(ask, picture, resolution);
  const base = { steps: wholeLadder(triedSteps(resolution.trace)), lane: address.lane };
  const { step, target } = resolution;
  if (refused || target === null || step === null)
    return { ...NOBODY, ...base, ...named(target, picture), error: refused && told(refused) };
  return { ...base, ...foreseen(address, { step, target }, picture, foresee) };
}

/** The chosen target and who follows it; refused only when each of them would refuse. */
function foreseen(address: Address, decision: Decision, picture: Picture, foresee: Foresee) {
  const { target } = decision;
  const first = target.kind === 'slot' ? foresee(target.slot) : SERVED;
  const next = followers(address, decision, picture).map((each) => ({
    ...each,
    ...(each.slot === null ? SERVED : foresee(each.slot)),
  }));
  const last = whoAnswers([first, ...next]);
  return {
    ...named(target, picture),
    load: first.load,
    after: next.map(({ slot, upstream, load, refusal }) => ({
      slot,
      upstream,
      load,
      error: refusal && told(refusal),
    })),
    error: last && told(last),
  };
}

const SERVED: Foreseen = { load: null, refusal: null };

/** The refusal that the caller is told; null when somebody serves it. Only some refusals pass it on. */
function whoAnswers(tried: readonly Foreseen[]): GatewayError | null {
  const end = tried.find(({ refusal }) => refusal === null || !FALLS_ON.has(refusal.code)) ?? tried.at(-1);
  return end?.refusal ?? null;
}

function named(target: Target | null, picture: Picture) {
  const slot = target?.kind === 'slot' ? slotNamed(picture, target.slot) : undefined;
  return {
    slot: slot?.name ?? null,
    upstream: target?.kind === 'upstream' ? target.upstream : null,
    would_load: slot !== undefined && !isLoaded(slot),
    queue_position: slot === undefined ? 0 : placeIn(slot),
  };
}

/** Where a new request would stand in the queue, counted from 1; 0 when it would be served at once. */
const placeIn = (slot: SlotGlance): number =>
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
