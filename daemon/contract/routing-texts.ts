import { slotConversationsText } from './conversation-texts.ts';
import type { ExplainView } from './system.ts';

type Balance = NonNullable<ExplainView['balance']>;

const FAILOVER_TEXTS: Readonly<Record<ExplainView['failover'][number], string>> = {
  no_memory: 'has no memory for its model',
  slot_failed: 'has failed',
  connection_failed: 'cannot be reached',
  busy: 'answers 429 or 503',
  not_responding: 'stops responding before it answers',
};

const BALANCE_TEXTS: Readonly<Record<Balance['rule'], string>> = {
  loaded: 'it has the model loaded',
  prefix: 'it served the beginning of the conversation',
  active: 'it has the fewest active requests for its weight',
  turn: 'it is as busy as the others, and it is its turn',
};

/**
 * Returns when a request goes to other targets, which ones are not tried and why, and what happens otherwise, as
 * sentences; null for a slot with no other target.
 */
export function failoverText({
  upstream,
  after,
  skipped,
  failover,
}: Pick<ExplainView, 'upstream' | 'after' | 'skipped' | 'failover'>): string | null {
  const notTried = skipped.map(({ upstream: name, reason }) => ` Not tried: ${name}. ${reason}`).join('');
  if (after.length === 0)
    return upstream === null
      ? null
      : `Every failure goes to the caller: no other upstream is tried.${notTried}`;
  const others = after.map((next) => next.slot ?? next.upstream).join(', ');
  const cases = new Intl.ListFormat('en', { type: 'disjunction' }).format(
    failover.map((each) => FAILOVER_TEXTS[each]),
  );
  return `If it ${cases}: ${others}. Any other failure goes to the caller.${notTried}`;
}

const joined = new Intl.ListFormat('en', { type: 'conjunction' });

/** Returns what the fallbacks of a request do, as one or two sentences; null without any. */
export function fallbackText({ fallback }: Pick<ExplainView, 'fallback'>): string | null {
  if (fallback === null) return null;
  const { off, used, models } = fallback;
  const names = joined.format(models.map(({ model }) => model));
  if (off === 'route')
    return `Its fallbacks (${names}) are not used on this route: its answers depend on the model.`;
  if (off === 'not_allowed')
    return `Its fallbacks (${names}) are not used: fallbacks.enabled is off, and the request does not send x-svc-allow-fallback: 1.`;
  const refused = models
    .filter(({ error }) => error !== null)
    .map(({ model, error }) => ` Fallback ${model} cannot: ${error?.message}`)
    .join('');
  if (used !== null) return refused.trim() || null;
  return `If it is busy, cannot be reached or does not load, its fallbacks are tried: ${names}.${refused}`;
}

/** Returns what the gateway behind the upstream would do; null when there is none. */
export function beyondText({
  upstream,
  fallback,
  beyond,
}: Pick<ExplainView, 'upstream' | 'fallback' | 'beyond'>) {
  if (beyond === null) return null;
  const used = fallback?.models.find(({ model }) => model === fallback.used);
  const name = used?.upstream ?? upstream;
  const { answer, failure } = beyond;
  if (answer === null) return `What ${name} would do is not known: ${failure}`;
  if (answer.error !== null) return `Gateway ${name} would refuse it: ${answer.error.message}`;
  if (answer.slot === null) return `Gateway ${name} would send it to its upstream ${answer.upstream}.`;
  const load = answer.would_load ? ', which would load its model first' : '';
  const queue = answer.queue_position > 1 ? `, position ${answer.queue_position} in its queue` : '';
  return `Gateway ${name} would use its slot ${answer.slot}${load}${queue}.`;
}

/** Returns whether the slot saves its conversations and predicts tokens, as sentences; null for another target. */
export function chatText({
  conversations,
  speculation,
}: Pick<ExplainView, 'conversations' | 'speculation'>): string | null {
  const parts = [
    conversations && slotConversationsText(conversations, conversations.saved),
    speculation && `Speculation: ${speculation.way}. ${speculation.reason}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

/** Returns why a slot is busy with requests without a caller; null when it has none. */
export function abandonedText(abandoned: number | undefined): string | null {
  if (!abandoned) return null;
  const what = abandoned === 1 ? 'a request whose caller has' : `${abandoned} requests whose callers have`;
  return `The engine is finishing ${what} left, because it cannot stop. New requests wait until then.`;
}

/** Returns which fallback would serve a request now; null when the requested model would. */
export function usedFallbackText({ fallback }: Pick<ExplainView, 'fallback'>): string | null {
  const used = fallback?.models.find(({ model }) => model === fallback.used);
  if (used === undefined) return null;
  const place = used.slot === null ? `upstream ${used.upstream}` : `slot ${used.slot}`;
  return `Goes to the fallback ${used.model} on ${place}, because the requested model cannot serve it now.`;
}

/** Returns why a target was chosen among equal upstreams, with their active requests. */
export function balanceText({ rule, upstreams }: Balance): string {
  const counts = upstreams.map(({ name, active }) => `${name} ${active}`).join(', ');
  return `${BALANCE_TEXTS[rule]} (active: ${counts})`;
}
