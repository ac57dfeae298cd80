import { GatewayError } from '../../contract/errors.ts';
import type { ExplainView } from '../../contract/system.ts';
import type { Preview } from '../../slots/admission/preview.ts';
import { queueFullError } from '../../slots/refusals.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import type { CuratedModel } from '../images/curated.ts';
import { otherModel } from '../images/other-model.ts';
import { meaning } from '../images/resolve-model.ts';
import { invalid, refuseLong } from '../rewrite/body-index.ts';
import { rewriteAddress } from '../rewrite/deviations.ts';
import { FALLS_ON } from '../rewrite/load-model.ts';
import { type Decision, type Resolution, refusal, resolve } from './dispatch.ts';
import { followers } from './fallbacks.ts';
import { modelOmitted } from './model-omitted.ts';
import { type Address, plainAddress } from './model-ref.ts';
import { isDispatched, pathRow } from './paths.ts';
import type { Ask, Target } from './resolver.ts';
import { isLoaded, type Picture, slotNamed } from './routing-view.ts';
import { triedSteps, wholeLadder } from './trace-view.ts';

export interface ExplainInput {
  readonly path: string;
  readonly model?: string;
  readonly body?: Record<string, unknown>;
}

/** What would become of a request for a slot now. */
export type Foresee = (slot: string) => Preview;

/** What is known of slots and upstreams beside the picture. */
export interface Prospect {
  readonly foresee: Foresee;
  /** Most callers that wait for one slot. */
  readonly queueMax: number;
  /** What an upstream would refuse a call with now; null when it takes one. */
  refusalOf(upstream: string): GatewayError | null;
}

/**
 * Replays the decision of `POST /api/dispatch/explain` on one picture: nothing is sent, loaded or fetched. Throws 422
 * `request.invalid` for a path that nothing is dispatched from.
 */
export function explain(input: ExplainInput, picture: Picture, prospect: Prospect): ExplainView {
  if (!isDispatched(input.path))
    throw invalid('path', 'must be an inference route such as /v1/chat/completions');
  const asked = askedModel(input);
  const base = { path: input.path, model: asked };
  try {
    const { model, drawn } = wanted(input.path, asked, picture);
    const meant = modelOmitted(plainAddress(model), input.path, picture);
    const { type } = pathRow(input.path);
    const ask = { path: input.path, type, address: rewriteAddress(meant, picture, type) };
    return { ...base, ...decided(ask, { drawn, picture, prospect }) };
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

/** The name that dispatch is asked for, and for pictures the curated model that it means. */
interface Wanted {
  readonly model: string | null;
  readonly drawn: CuratedModel | null;
}

/** Pictures are drawn by curated models only, and no name is longer than any. Throws as the real call does. */
function wanted(path: string, asked: string | null, picture: Picture): Wanted {
  if (asked !== null) refuseLong(Buffer.byteLength(asked));
  if (pathRow(path).type !== 'image') return { model: asked, drawn: null };
  if (asked === null) throw invalid('model', 'is required');
  const { model, curated } = meaning(asked, picture);
  return { model, drawn: curated };
}

type Explained = Omit<ExplainView, 'path' | 'model'>;

/** What a decision is explained by. */
interface Seen {
  readonly drawn: CuratedModel | null;
  readonly picture: Picture;
  readonly prospect: Prospect;
}

function decided(ask: Ask, on: Seen): Explained {
  const { picture } = on;
  const first = resolve(ask, picture);
  const resolution = first.fetch
    ? withoutFetch(first, resolve(ask, { ...seen(picture), liveAsked: true }))
    : first;
  const refused = refusal(ask, picture, resolution);
  const base = { steps: wholeLadder(triedSteps(resolution.trace)), lane: ask.address.lane };
  const { step, target } = resolution;
  if (refused || target === null || step === null)
    return { ...NOBODY, ...base, ...named(target, picture), error: refused && told(refused) };
  return { ...base, ...foreseen(ask.address, { step, target }, on) };
}

/** The chosen target and who follows it; refused only when each of them would refuse. */
function foreseen(address: Address, decision: Decision, on: Seen) {
  const { target } = decision;
  const { picture, prospect } = on;
  const ofUpstream = (name: string): Preview => ({ load: null, refusal: prospect.refusalOf(name) });
  const first = target.kind === 'slot' ? fate(target.slot, on) : ofUpstream(target.upstream);
  const next = followers(address, decision, picture).map((each) => ({
    ...each,
    ...(each.slot === null ? ofUpstream(each.upstream) : fate(each.slot, on)),
  }));
  const last = whoAnswers([first, ...next]);
  return {
    ...named(target, picture),
    ...(first.refusal?.code === 'slot.queue_full' && { queue_position: 0 }),
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

/** What becomes of a request for a slot; one that would have to wait finds no place in a full queue. */
function fate(name: string, { drawn, picture, prospect: { foresee, queueMax } }: Seen): Preview {
  const slot = slotNamed(picture, name);
  const other = drawn === null || slot === undefined ? null : otherModel(drawn, slot);
  if (other !== null) return { load: null, refusal: other };
  const known = foresee(name);
  if (known.refusal !== null || slot === undefined) return known;
  if (placeIn(slot) === 0 || slot.queued < queueMax) return known;
  return { load: null, refusal: queueFullError(name, placeIn(slot)) };
}

/** The refusal that the caller is told; null when somebody serves it. Only some refusals pass it on. */
function whoAnswers(tried: readonly Preview[]): GatewayError | null {
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
const placeIn = (slot: SlotView): number =>
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

const told = ({ code, message, options: { details } }: GatewayError) => ({
  code,
  message,
  ...(details === undefined ? {} : { details }),
});
