import { SPAN_KIND, type Span } from './span.ts';
import { newSpanId, type TraceContext } from './trace-context.ts';

/** One finished request for its trace. Times are Unix milliseconds; null for what did not happen. */
export interface TracedRequest {
  readonly id: string;
  readonly route: string;
  readonly tier: string;
  readonly slot: string | null;
  readonly upstream: string | null;
  readonly step: string | null;
  /** The model that was chosen, not the name that the caller sent. */
  readonly model: string | null;
  readonly status: number;
  readonly error: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly receivedMs: number;
  readonly routedMs: number | null;
  readonly leasedMs: number | null;
  readonly sentMs: number | null;
  readonly firstByteMs: number | null;
  readonly endedMs: number;
}

/** The trace context of a request. */
export interface RequestContext {
  readonly own: TraceContext;
  /** Span id of the caller; empty without one. */
  readonly parentSpanId: string;
  /** Span id of the engine call, which the engine receives as its parent. */
  readonly callSpanId: string;
}

/** The period of a slot's load, Unix milliseconds. */
export interface LoadTime {
  readonly from: number;
  readonly to: number;
}

type Stage = Pick<Span, 'name' | 'startMs' | 'endMs'> & Partial<Span>;

/**
 * Returns the spans of one request: itself, and below it the stages that it reached. `wait` covers the queue
 * of a slot and contains `load`; `call` covers the engine and contains `prefill` (until the first byte) and
 * `stream`.
 */
export function requestSpans(
  request: TracedRequest,
  { own, parentSpanId, callSpanId }: RequestContext,
  load: LoadTime | null,
): Span[] {
  const { traceId, spanId } = own;
  const span = (parent: string, stage: Stage): Span => ({
    traceId,
    spanId: newSpanId(),
    parentSpanId: parent,
    kind: SPAN_KIND.internal,
    attributes: {},
    failed: false,
    ...stage,
  });
  const { route, receivedMs, endedMs, sentMs } = request;
  const root = span(parentSpanId, {
    spanId,
    name: `POST ${route}`,
    kind: SPAN_KIND.server,
    startMs: receivedMs,
    endMs: endedMs,
    attributes: attributesOf(request),
    failed: request.status >= 500 || (request.error !== null && request.status < 400),
  });
  const spans = [root];
  for (const stage of waitStages(request, load)) {
    const last = spans.at(-1) as Span;
    spans.push(span(stage.name === 'load' ? last.spanId : spanId, stage));
  }
  if (sentMs === null) return spans;
  spans.push(
    span(spanId, {
      spanId: callSpanId,
      name: 'call',
      kind: SPAN_KIND.client,
      startMs: sentMs,
      endMs: endedMs,
      attributes: { 'svc.slot': request.slot, 'svc.upstream': request.upstream },
    }),
  );
  return [...spans, ...callStages(request, sentMs).map((stage) => span(callSpanId, stage))];
}

/** Shorter waits get no span. */
const MIN_WAIT_MS = 1;

function waitStages({ slot, routedMs, leasedMs, endedMs }: TracedRequest, load: LoadTime | null): Stage[] {
  if (slot === null || routedMs === null) return [];
  const until = leasedMs ?? endedMs;
  if (until - routedMs < MIN_WAIT_MS) return [];
  const wait = { name: 'wait', startMs: routedMs, endMs: until };
  if (load === null) return [wait];
  const [from, to] = [Math.max(load.from, routedMs), Math.min(load.to, until)];
  return to > from ? [wait, { name: 'load', startMs: from, endMs: to }] : [wait];
}

function callStages({ firstByteMs, endedMs }: TracedRequest, sentMs: number): Stage[] {
  const prefill = { name: 'prefill', startMs: sentMs, endMs: firstByteMs ?? endedMs };
  if (firstByteMs === null) return [prefill];
  return [prefill, { name: 'stream', startMs: firstByteMs, endMs: endedMs }];
}

const attributesOf = (request: TracedRequest): Span['attributes'] => ({
  'http.request.method': 'POST',
  'http.route': request.route,
  'http.response.status_code': request.status,
  'error.type': request.error,
  'gen_ai.response.model': request.status < 400 ? request.model : null,
  'gen_ai.usage.input_tokens': request.promptTokens,
  'gen_ai.usage.output_tokens': request.completionTokens,
  'svc.request_id': request.id,
  'svc.tier': request.tier,
  'svc.slot': request.slot,
  'svc.upstream': request.upstream,
  'svc.step': request.step,
});
