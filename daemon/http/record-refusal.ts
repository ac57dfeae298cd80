import type { IncomingMessage } from 'node:http';
import type { Auth } from '../auth/auth.ts';
import type { GatewayError } from '../contract/errors.ts';
import { splitTarget } from '../lib/net/request-target.ts';
import { readCallerInfo } from '../telemetry/caller-info.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { isRecordedRefusal, type RefusedRequests } from '../telemetry/refused-requests.ts';
import type { Matcher } from './matcher.ts';

/** A request that failed, as far as it was read. */
export interface FailedRequest {
  readonly req: IncomingMessage;
  readonly id: string;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
}

export interface RefusalDeps {
  readonly auth: Pick<Auth, 'address'>;
  readonly matcher: Matcher;
  readonly metrics: Pick<Metrics, 'refused'>;
  readonly refusedRequests: Pick<RefusedRequests, 'add'>;
}

/** Returns the path of the matching route, else that of the request. A preflight counts as the request that follows. */
function pathOf(matcher: Matcher, { method = 'GET', url = '/' }: IncomingMessage): string {
  const path = splitTarget(url)?.path ?? '/';
  const announced = method === 'OPTIONS' ? 'POST' : method;
  return matcher(announced, path).route?.path ?? path;
}

/** Counts every failure by its code. A request without access also becomes a row of the request list. */
export function refusalRecorder({ auth, matcher, metrics, refusedRequests }: RefusalDeps) {
  return (failure: GatewayError, request: FailedRequest | null): void => {
    metrics.refused(failure.code);
    if (request === null || !isRecordedRefusal(failure.code)) return;
    const { req, id, receivedAt } = request;
    const address = auth.address({ peer: req.socket.remoteAddress ?? '', rawHeaders: req.rawHeaders });
    refusedRequests.add({
      id,
      path: pathOf(matcher, req),
      failure,
      caller: readCallerInfo(req.headers, address),
      receivedAt,
    });
  };
}
