import type { CallerInfo } from '../contract/caller-info.ts';
import type { ErrorCode, GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { RequestDetailView, RequestRecord } from '../contract/system.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { isoTime } from '../lib/text/iso-time.ts';
import { truncate } from '../lib/text/truncate.ts';
import type { Minutes } from './minutes.ts';

/** A request that was refused before a handler saw it. */
export interface RefusedRequest {
  readonly id: string;
  /** The path of the matching route, else that of the request. */
  readonly path: string;
  readonly failure: Pick<GatewayError, 'code' | 'status' | 'message'>;
  readonly caller: CallerInfo;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
}

export interface RefusedRequests {
  /** Adds a row for a refusal of access, unless an admin route without a session is concerned. Never throws. */
  add(request: RefusedRequest): void;
  /** Returns the rows, newest first. */
  list(): RequestRecord[];
  find(id: string): RequestDetailView | null;
}

export interface RefusedRequestsDeps {
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly minutes: Pick<Minutes, 'finished'>;
  /** Removes secrets: a caller may write a key into any header. */
  readonly redact: (text: string) => string;
}

/** Rows in memory. Anyone can cause them, so they never reach the disk. */
const MAX_ROWS = 200;
/** Rows of one cause, so that an app that tries again and again does not displace the others. */
const MAX_ROWS_PER_CAUSE = 10;
const MAX_PATH_LENGTH = 128;
/** Minimum time between two events, so that refused callers do not load the event streams (ms). */
const EVENT_MS = 1_000;

const RECORDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'auth.required',
  'auth.forbidden',
  'auth.origin_forbidden',
  'auth.host_forbidden',
]);
/** Whether a failure is a refusal of access, which is a row. */
export const isRecordedRefusal = (code: ErrorCode): boolean => RECORDED.has(code);

/** A dashboard without a session polls these. A foreign page or name is a row on every route. */
const isOwnTraffic = (path: string, code: string): boolean =>
  path.startsWith('/api/') && (code === 'auth.required' || code === 'auth.forbidden');

/** The last requests without access. Bounded, in memory only. */
export function createRefusedRequests(deps: RefusedRequestsDeps): RefusedRequests {
  /** Oldest first. */
  const rows: { readonly cause: string; readonly row: RequestRecord }[] = [];
  let eventAt = Number.NEGATIVE_INFINITY;

  const push = (row: RequestRecord): void => {
    const cause = `${row.error} ${row.route} ${row.address} ${row.user_agent}`;
    const same = rows.filter((each) => each.cause === cause);
    const dropped =
      same.length >= MAX_ROWS_PER_CAUSE ? same[0] : rows.length >= MAX_ROWS ? rows[0] : undefined;
    if (dropped !== undefined) rows.splice(rows.indexOf(dropped), 1);
    rows.push({ cause, row });
  };

  return {
    add({ id, path, failure, caller, receivedAt }) {
      const { code, status } = failure;
      if (!isRecordedRefusal(code) || isOwnTraffic(path, code)) return;
      const now = performance.now();
      push({
        id,
        at: isoTime(Date.now()),
        route: deps.redact(truncate(path, MAX_PATH_LENGTH)),
        asked: null,
        model: null,
        slot: null,
        upstream: null,
        step: null,
        tier: 'anon',
        state: 'done',
        status,
        duration_ms: Math.round((now - receivedAt) * 10) / 10,
        ttft_ms: null,
        prompt_tokens: null,
        completion_tokens: null,
        error: code,
        message: deps.redact(failure.message),
        reason: null,
        app: caller.app === null ? null : deps.redact(caller.app),
        user_agent: caller.user_agent === null ? null : deps.redact(caller.user_agent),
        address: caller.address,
      });
      deps.minutes.finished({ status, inBandCode: null, firstByteS: null, completionTokens: null });
      if (now - eventAt < EVENT_MS) return;
      eventAt = now;
      deps.bus.emit('request', { id, route: path, slot: null, state: 'ended', status });
    },
    list: () => rows.map(({ row }) => row).reverse(),
    find(id) {
      const found = rows.find(({ row }) => row.id === id);
      return found === undefined ? null : { ...found.row, story: null };
    },
  };
}
