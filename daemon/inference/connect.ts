import type { GatewayError } from '../contract/errors.ts';
import { engineOf } from '../slots/engines/table.ts';
import type { Lease } from '../slots/lifecycle/lease.ts';
import type { CallEnd } from '../upstreams/upstream.ts';
import type { RunDeps, Walk } from './call.ts';
import type { Decision } from './dispatch/dispatch.ts';
import type { Ask } from './dispatch/resolver.ts';
import { awaitLease } from './forward/await-lease.ts';
import type { EffortTold } from './forward/effort-support.ts';
import { headerText } from './forward/headers.ts';
import { NO_WAIT, type Waits, waitsOf } from './forward/wait-times.ts';
import { loadModel } from './rewrite/load-model.ts';
import type { Reading } from './tasks.ts';

/** Where a request goes, ready to be used. */
export interface Connection {
  readonly origin: string;
  /** What stands there in place of our own `/v1`. */
  readonly base: string;
  /** The engine's own credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** The id of the model, as clients know it. */
  readonly model: string | null;
  /** The name by which the engine knows it; null: it looks at no name, what the caller wrote stays. */
  readonly engineModel: string | null;
  /** Not a provider of somebody else. */
  readonly local: boolean;
  /** Thinking when the caller says nothing. */
  thinkingDefault(): boolean | null;
  readonly degraded: string | null;
  /** How it is told the effort; undefined: as it was asked for. */
  readonly effort?: EffortTold;
  /** What the request waited for; null for an upstream, which has no line here. */
  readonly waits: Waits | null;
  /** It serves rerank under its native path only. */
  readonly nativeRerank: boolean;
  /** It reranks as TEI does: at a path and in words of its own. */
  readonly teiRerank: boolean;
  /** Where it counts tokens; undefined for the usual place. */
  readonly countPath: string | undefined;
  /** It is an upstream. */
  readonly foreign: boolean;
  /** Its name; null for a slot. */
  readonly upstream: string | null;
  /** Limits of its own in milliseconds; null leaves them to the settings. */
  readonly connectMs: number | null;
  readonly idleMs: number | null;
  /** Tells the slot how fast its last answer was. */
  note(tokensPerSecond: number): void;
  /** Tells the upstream with which status its answer has begun. */
  readonly begun: (status: number) => void;
  /** Tells the upstream how the call ended, once. */
  ended(end: CallEnd): void;
  /** The request has ended, however it did. */
  release(): void;
}

/** Makes the decided target ready: a slot is loaded and leased, an upstream is only looked up. At once where nobody has to wait. */
export function connect(
  on: Walk,
  reading: Reading,
  ask: Ask,
  decision: Decision,
): Connection | Promise<Connection> {
  const { target, step } = decision;
  tell(on, 'x-svc-step', step);
  if (target.kind === 'slot')
    return toSlot(on, reading, ask, { slot: target.slot, model: target.model, step });
  return toUpstream(on, { upstream: target.upstream, model: target.model, step });
}

/** Sets a header of the answer, or takes back (null) what an earlier choice had set; a head that is out stays as it is. */
function tell({ call, answer }: Walk, name: string, value: string | null): void {
  if (answer.headSent) return;
  if (value === null) call.res.removeHeader(name);
  else call.res.setHeader(name, value);
}

interface SlotChoice {
  readonly slot: string;
  readonly model: string | null;
  readonly step: string;
}

function toSlot(on: Walk, reading: Reading, ask: Ask, choice: SlotChoice): Connection | Promise<Connection> {
  const { slot, model } = choice;
  const byId = ask.address.by === null && model === ask.address.model;
  const modelId = byId ? model : null;
  goTo(on, slot, choice, model);
  const now = on.life.ended ? null : on.deps.slots.leaseNow(slot, { modelId });
  if (now === null) return awaitSlot(on, reading, ask, choice, modelId);
  on.track.leased();
  return ofLease(on.deps, now, NO_WAIT);
}

/** The request goes to this slot, as far as anybody can say. */
function goTo(on: Walk, slot: string, { step }: SlotChoice, model: string | null): void {
  on.track.routed({ slot, upstream: null, step, model });
  tell(on, 'x-svc-slot', slot);
  if (model !== null) tell(on, 'x-svc-model', headerText(model));
}

async function awaitSlot(
  on: Walk,
  reading: Reading,
  ask: Ask,
  choice: SlotChoice,
  modelId: string | null,
): Promise<Connection> {
  const { deps, call, life, answer, track } = on;
  const { slot } = choice;
  const { chain, lane } = ask.address;
  const priority = call.req.headers['x-svc-priority'] === 'batch' ? 'batch' : 'interactive';
  const stream = (call.waitsAsStream ?? reading.stream) && streams(deps, slot);
  let model = choice.model;
  const ready = (name: string) => {
    if (name !== slot) {
      model = deps.slots.get(name)?.model ?? null;
      goTo(on, name, choice, model);
    }
    return awaitLease(name, { slots: deps.slots, life, answer, stream, priority, modelId });
  };
  const askedAt = Date.now();
  const fell = ({ code }: GatewayError) => track.wentOn(code);
  const lease = await loadModel(slot, slot === lane ? chain : [], ready, fell);
  // Who asked for a slot by its name is served by whatever model it was given while he waited.
  if (lease.model !== model) goTo(on, lease.slot, choice, lease.model);
  track.leased();
  return ofLease(deps, lease, waitsOf(askedAt, Date.now(), lease));
}

/** A whole answer needs a head of its own: none that says that a stream has begun. */
const streams = ({ slots }: RunDeps, slot: string): boolean =>
  engineOf(slots.get(slot)?.engine ?? '')?.streams !== false;

/** Our own engines are told nothing of a call. */
const NOTHING = (): void => {};

function ofLease({ slots, registry }: RunDeps, lease: Lease, waits: Waits): Connection {
  const ofModel = () =>
    (registry.get ? registry.get(lease.model) : registry.list().find(({ id }) => id === lease.model))
      ?.enable_thinking;
  return {
    origin: lease.origin,
    base: '/v1',
    headers: lease.headers,
    model: lease.model,
    engineModel: lease.dialect.model,
    local: true,
    thinkingDefault: () => slots.config(lease.slot)?.enableThinking ?? ofModel() ?? null,
    degraded: lease.degraded,
    waits,
    nativeRerank: lease.dialect.nativeRerank,
    teiRerank: false,
    countPath: lease.dialect.countPath,
    foreign: false,
    upstream: null,
    connectMs: null,
    idleMs: null,
    begun: NOTHING,
    ended: NOTHING,
    note: (tokensPerSecond) => slots.recordUsage(lease.slot, { tokensPerSecond }),
    release: () => lease.release(),
  };
}

interface UpstreamChoice {
  readonly upstream: string;
  readonly model: string;
  readonly step: string;
}

/** Throws what the upstream refuses a call with. */
function toUpstream(on: Walk, choice: UpstreamChoice): Connection {
  const { deps, call, task, track } = on;
  const { upstream, model, step } = choice;
  track.routed({ slot: null, upstream, step, model });
  tell(on, 'x-svc-slot', null);
  tell(on, 'x-svc-upstream', headerText(upstream));
  const hops = hopsOf(call.req.headers['x-svc-hops']);
  const route = deps.upstreams.connect(upstream, { hops, isTokenCount: task.counts });
  const { origin, base, headers, remote, nativeRerank, teiRerank, connectMs, idleMs } = route;
  let over = false;
  const ended = (end: CallEnd) => {
    if (!over) route.onEnd(end);
    over = true;
  };
  return {
    origin,
    base,
    headers,
    model,
    engineModel: model,
    local: !remote,
    foreign: true,
    upstream,
    thinkingDefault: () => deps.registry.get?.(model)?.enable_thinking ?? null,
    degraded: null,
    waits: null,
    nativeRerank,
    teiRerank,
    countPath: undefined,
    connectMs,
    idleMs,
    note: () => {},
    begun: (status) => route.onResponse(status),
    ended,
    release: () => ended(null),
  };
}

/** Of several headers the values in a row: none may hide another. */
const hopsOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
