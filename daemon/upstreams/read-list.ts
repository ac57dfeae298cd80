import type { Outbound } from '../lib/net/outbound.ts';
import { askUpstream, type UpstreamAnswer } from './ask.ts';
import { faultOf } from './fault.ts';
import { HOPS_HEADER, INSTANCE_HEADER } from './hops.ts';
import { readModelList } from './model-list.ts';
import type { Sent, Upstream } from './upstream.ts';

/**
 * Maximum time for one list, in milliseconds: less than for all of them together
 * (docs/spec/contract.md#live-lists).
 */
export const LIST_LIMIT_MS = 7_000;
const MOST_BYTES = 8 * 1024 * 1024;
const LOOP = 'Its address leads back to this gateway.';

export interface ListDeps {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  /** The name of this gateway among gateways. */
  readonly instance: string;
  connectMs(upstream: Upstream): number;
}

/** What a question for the list gave. */
export interface ListOutcome {
  readonly ok: boolean;
  readonly status: number | null;
  /** For administrators. */
  readonly message: string;
}

/**
 * Asks an upstream for its models and lets it take in what came: the list, a refusal of our key, a failure. Never
 * throws, except the signal's reason when the caller leaves; then nothing is taken in.
 */
export async function readList(
  upstream: Upstream,
  deps: ListDeps,
  signal: AbortSignal,
): Promise<ListOutcome> {
  const unasked = (message: string): ListOutcome => ({ ok: false, status: null, message });
  if (upstream.isSelf) return unasked(LOOP);
  if (upstream.keyMissing) {
    upstream.refused(upstream.sent);
    return unasked('Its key is not set.');
  }
  const { sent } = upstream;
  let answer: UpstreamAnswer;
  try {
    answer = await askUpstream({ ...question(upstream, deps), signal });
  } catch (error) {
    signal.throwIfAborted();
    const { words } = faultOf(error);
    upstream.unanswered(words, error);
    return unasked(words);
  }
  return judge(upstream, answer, { instance: deps.instance, sent });
}

function question(upstream: Upstream, { outbound, instance, connectMs }: ListDeps) {
  const { at, kind } = upstream.config;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...upstream.credential(),
    [HOPS_HEADER]: instance,
  };
  return {
    outbound,
    limitMs: LIST_LIMIT_MS,
    mostBytes: MOST_BYTES,
    request: {
      origin: at.origin,
      path: `${at.base}/models${kind === 'svc' ? '?show_all=true' : ''}`,
      method: 'GET' as const,
      headers: Object.entries(headers).flat(),
      body: null,
      idleMs: LIST_LIMIT_MS,
      connectMs: Math.min(connectMs(upstream), LIST_LIMIT_MS),
    },
  };
}

interface Asked {
  readonly instance: string;
  readonly sent: Sent;
}

function judge(upstream: Upstream, answer: UpstreamAnswer, { instance, sent }: Asked): ListOutcome {
  const { status, headers, bytes } = answer;
  const told = (message: string): ListOutcome => ({ ok: false, status, message });
  if (headers[INSTANCE_HEADER] === instance) {
    upstream.metItself();
    return told(LOOP);
  }
  // What failed on the way may be the same way round as before.
  if (status < 500) upstream.metAnother();
  if (refusesKey(upstream, status)) {
    upstream.refused(sent);
    return told(
      upstream.config.keyEnv === null ? 'It asks for a key; name one with key_env.' : 'It refused the key.',
    );
  }
  if (upstream.config.models !== null && status < 500) {
    upstream.answered(status < 300, sent);
    return { ok: true, status, message: 'It answers; its file names its models.' };
  }
  const broken = refusal(status);
  if (broken !== null) {
    upstream.unanswered(broken, status >= 500 ? new Error(broken) : undefined);
    if (status < 500) upstream.breaker.reached();
    return told(broken);
  }
  const models = readModelList(parsed(bytes));
  if (models === null) {
    upstream.unanswered('What it answers is no model list.');
    return told('What it answers is no model list; does its base_url end as its documentation says (…/v1)?');
  }
  upstream.listing.came(models);
  upstream.answered(true, sent);
  return { ok: true, status, message: `${upstream.models.length} models` };
}

/** 403 too, but where a key that is taken for calls may not ask for a list that the file makes needless. */
function refusesKey({ config, takesKey }: Upstream, status: number): boolean {
  return status === 401 || (status === 403 && (config.models === null || !takesKey));
}

function refusal(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return 'It redirects, which is not followed; use the address that it redirects to.';
  if (status === 404 || status === 405) {
    return 'It has no model list there; check the path of its base_url, or name its models in its file.';
  }
  return `It answered the question for its models with status ${status}.`;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
