import type { Walk } from './call.ts';
import type { Connection } from './connect.ts';
import type { Decision } from './dispatch/dispatch.ts';
import { callEnd } from './forward/call-end.ts';
import { type EffortAsk, EffortRefused, type EffortTold } from './forward/effort-support.ts';
import { type EngineFailure, judge, type Verdict } from './forward/engine-error.ts';
import type { ExchangeEnd } from './forward/exchange.ts';
import { engineHeaders, headerText } from './forward/headers.ts';
import { outgoingPath, underBase } from './forward/outgoing-path.ts';
import { send } from './forward/send.ts';
import type { InferenceCall } from './serve.ts';
import type { Prepared, PreparedSink, Reading } from './tasks.ts';

/** A task that makes its answer by itself. */
export async function serve(
  on: Walk,
  reading: Reading,
  connection: Connection,
  decision: Decision,
): Promise<void> {
  const { answer, track, task } = on;
  announce(on, reading, connection);
  track.sent();
  const served = task.serve?.(on, reading, connection, decision);
  const end = await told(
    on,
    connection,
    Promise.resolve(served).then(() => null),
  );
  track.end({ status: answer.status, error: end?.code ?? null, told: true, usage: null });
}

/** Sends the request over a connection and passes the answer on, until both have ended. */
export async function exchange(
  on: Walk,
  reading: Reading,
  prepared: Prepared | null,
  reached: Connection,
): Promise<void> {
  const { deps, call, answer, life, track, task } = on;
  const effort = effortAsked(reading, reached);
  const effortTold = reading.effortTold ?? (effort === null ? undefined : deps.efforts.told(effort));
  const connection = withEffort(reached, effortTold);
  const body = (prepared ?? reading).body(connection, connection.engineModel);
  const sink = prepared?.sink(connection) ?? null;
  announce(on, reading, connection);
  const sentAt = performance.now();
  track.sent();
  const sent = send({
    outbound: deps.outbound,
    answer: sink ?? answer,
    life,
    judge: effort === null ? task.judge : judgeEffort(on, effort, effortTold),
    asEvents: task.asEvents,
    own: connection.headers,
    foreign: connection.foreign,
    begun: connection.begun,
    request: {
      origin: connection.origin,
      path: task.place?.(connection) ?? pathOf(call, connection),
      method: 'POST',
      headers: engineHeaders({
        incoming: call.req.headers,
        contentType: task.verbatim ? undefined : 'application/json',
        own: connection.headers,
        requestId: call.id,
        traceparent: connection.local ? track.traceparent : null,
      }),
      body,
      idleMs: connection.idleMs ?? deps.settings.value('idleTimeoutS') * 1000,
      connectMs: connection.connectMs ?? undefined,
    },
  });
  const end = await told(on, connection, sink === null ? sent : through(sent, sink));
  const usage = answer.measured(sentAt);
  const { status, error } = answer.concluded(end);
  track.end({ status, error, told: true, usage });
  if (usage.tokensPerSecond !== null) connection.note(usage.tokensPerSecond);
}

/** The effort that is asked of a provider; null where none is. */
function effortAsked({ effort }: Reading, { upstream, local, engineModel }: Connection): EffortAsk | null {
  if (!effort || local || upstream === null) return null;
  return { ...effort, upstream, model: engineModel ?? '' };
}

function withEffort(connection: Connection, effort: EffortTold | undefined): Connection {
  if (effort === undefined) return connection;
  const degraded = `reasoning_effort is refused: sent ${effort === 'none' ? 'as none' : 'without'}`;
  return { ...connection, effort, degraded };
}

/** A refusal of the effort is thrown for another try; all else is judged as always. */
const judgeEffort =
  ({ task, deps, answer }: Walk, ask: EffortAsk, told: EffortTold | undefined) =>
  (failure: EngineFailure): Verdict => {
    const otherwise = answer.headSent ? undefined : deps.efforts.refused(ask, told, failure);
    if (otherwise === undefined) return (task.judge ?? judge)(failure);
    return { passes: false, error: new EffortRefused(failure.status, otherwise) };
  };

const pathOf = ({ path, req }: InferenceCall, { base, nativeRerank }: Connection): string =>
  underBase(base, outgoingPath(path, req.url ?? '', nativeRerank));

/** Waits for the end of a call and tells the connection how it came. */
async function told(
  { answer, life }: Walk,
  connection: Connection,
  sent: Promise<ExchangeEnd>,
): Promise<ExchangeEnd> {
  let end: ExchangeEnd;
  try {
    end = answer.ended(await sent);
  } catch (error) {
    connection.ended(callEnd(life.ended ?? error, { status: answer.status }));
    throw error;
  }
  connection.ended(callEnd(end, { status: answer.status }));
  return end;
}

/** An answer that is made from the engine's has ended when both have. */
async function through(sent: Promise<ExchangeEnd>, sink: PreparedSink): Promise<ExchangeEnd> {
  try {
    const end = await sent;
    await sink.settled;
    return end;
  } finally {
    sink.dispose();
  }
}

/**
 * Runs when the gateway's own work on a request is done: informs the log and sets the headers of every
 * proxied answer (docs/spec/contract.md#answer-headers), error envelopes included.
 */
function announce({ call, answer, track, own }: Walk, reading: Reading, connection: Connection): void {
  own.pause();
  const overheadMs = own.ms;
  track.prepared({ waits: connection.waits, overheadMs, degraded: connection.degraded });
  if (answer.headSent) return;
  const { res } = call;
  if (connection.model !== null) res.setHeader('x-svc-model', headerText(connection.model));
  if (connection.degraded !== null) res.setHeader('x-svc-degraded', headerText(connection.degraded));
  if (reading.omni) res.setHeader('x-svc-omni', 'unavailable');
  res.setHeader('x-svc-overhead-ms', overheadMs.toFixed(2));
}
