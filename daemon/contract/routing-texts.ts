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

/** Returns when a request goes to other targets, as two sentences; null when it goes to no other one. */
export function failoverText({ after, failover }: Pick<ExplainView, 'after' | 'failover'>): string | null {
  if (after.length === 0) return null;
  const others = after.map((next) => next.slot ?? next.upstream).join(', ');
  const cases = new Intl.ListFormat('en', { type: 'disjunction' }).format(
    failover.map((each) => FAILOVER_TEXTS[each]),
  );
  return `If it ${cases}: ${others}. Any other failure goes to the caller.`;
}

/** Returns why a target was chosen among equal upstreams, with their active requests. */
export function balanceText({ rule, upstreams }: Balance): string {
  const counts = upstreams.map(({ name, active }) => `${name} ${active}`).join(', ');
  return `${BALANCE_TEXTS[rule]} (active: ${counts})`;
}
