import type { Outbound, OutboundController } from '../../lib/net/outbound.ts';
import type { Collector } from './collector.ts';
import { exportRequest, type Resource, rejectedSpans } from './otlp-json.ts';
import type { Span } from './span.ts';
import type { Delivery } from './span-queue.ts';

/** Maximum bytes of a reply that are read; a larger one counts as empty. */
const MAX_BYTES = 64 * 1024;
/** Retryable statuses (OTLP specification, "Retryable Response Codes"). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface CollectorReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/**
 * Sends one batch of spans to a collector by OTLP over HTTP with JSON. Never rejects; ends within `limitMs`.
 */
export async function deliverSpans(
  outbound: Pick<Outbound, 'dispatch'>,
  collector: Collector,
  resource: Resource,
  spans: readonly Span[],
  limitMs: number,
): Promise<Delivery> {
  const body = Buffer.from(JSON.stringify(exportRequest(spans, resource)));
  try {
    return verdict(await post(outbound, collector, body, limitMs));
  } catch (error) {
    return { kind: 'again', afterMs: null, reason: reasonOf(error) };
  }
}

function verdict({ status, retryAfter, body }: CollectorReply): Delivery {
  if (status >= 200 && status < 300) return { kind: 'taken', rejected: rejectedSpans(body) };
  const reason = `it answered with status ${status}`;
  if (!RETRYABLE.has(status)) return { kind: 'refused', reason };
  const seconds = Number(retryAfter);
  return { kind: 'again', afterMs: seconds > 0 ? seconds * 1000 : null, reason };
}

/** Returns the kind of a connection error; its message may contain the address. */
function reasonOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return `it cannot be reached (${typeof code === 'string' ? code : String(name)})`;
}

function post(
  outbound: Pick<Outbound, 'dispatch'>,
  { origin, path, headers }: Collector,
  body: Buffer,
  limitMs: number,
): Promise<CollectorReply> {
  const { promise, resolve, reject } = Promise.withResolvers<CollectorReply>();
  const limit = AbortSignal.timeout(limitMs);
  const chunks: Buffer[] = [];
  let [status, bytes] = [0, 0];
  let retryAfter: string | undefined;
  let controller: OutboundController | null = null;
  const stop = () => {
    reject(limit.reason);
    controller?.abort(limit.reason as Error);
  };
  limit.addEventListener('abort', stop, { once: true });
  const fixed = [
    'content-type',
    'application/json',
    'accept',
    'application/json',
    'user-agent',
    'svc-gateway',
  ];
  outbound.dispatch(
    { origin, path, method: 'POST', headers: [...fixed, ...headers], body, idleMs: limitMs },
    {
      onRequestStart(started) {
        controller = started;
        if (limit.aborted) stop();
      },
      onResponseStart(_, code, fields) {
        if (code < 200) return;
        status = code;
        retryAfter = String(fields['retry-after'] ?? '');
      },
      onResponseData(_, chunk) {
        bytes += chunk.length;
        if (bytes <= MAX_BYTES) chunks.push(chunk);
        else chunks.length = 0;
      },
      onResponseEnd: () => resolve({ status, retryAfter, body: Buffer.concat(chunks).toString('utf8') }),
      onResponseError: (_, error) => reject(error),
    },
  );
  return promise.finally(() => limit.removeEventListener('abort', stop));
}
