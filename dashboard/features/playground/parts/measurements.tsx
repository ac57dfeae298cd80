import type { ReactElement } from 'react';
import { count, duration, tokenRate } from '../../../ui/format.ts';
import { State } from '../../../ui/state-badge.tsx';
import type { Facts } from '../conversation.ts';
import css from './response-line.module.css';

/** Measurements of a streamed answer, in one line. */
export function Measured(props: { facts: Facts }): ReactElement {
  const { facts } = props;
  const parts = [
    facts.slot,
    facts.tokens === null ? null : `${count(facts.tokens)} tokens`,
    facts.tokensPerSecond === null ? null : tokenRate(facts.tokensPerSecond),
    facts.firstTokenMs === null ? null : `first token ${duration(facts.firstTokenMs)}`,
    `total ${duration(facts.totalMs)}`,
    facts.degraded === null ? null : `degraded: ${facts.degraded}`,
  ];
  return (
    <span className={css.facts} title={facts.requestId === null ? undefined : `Request ${facts.requestId}`}>
      {facts.limited ? <State tone="attention">Token limit reached</State> : null}{' '}
      {parts.filter(Boolean).join(' · ')}
    </span>
  );
}
