import type { ReactElement } from 'react';
import { Link } from 'wouter';
import {
  abandonedText,
  balanceText,
  beyondText,
  chatText,
  failoverText,
  fallbackText,
  usedFallbackText,
} from '../../../daemon/contract/routing-texts.ts';
import type { ExplainView } from '../../../daemon/contract/system.ts';
import { Note } from '../../ui/note.tsx';
import { Forecast } from '../shared/forecast.tsx';
import css from './requests.module.css';
import { RoutingSteps } from './routing-steps.tsx';

/** Describes the target of a request and what it would wait for. */
export function targetSentence(explained: ExplainView): string {
  if (explained.error !== null) return explained.error.message;
  const used = usedFallbackText(explained);
  if (used !== null) return used;
  if (explained.upstream !== null) return `Goes to upstream ${explained.upstream}.`;
  if (explained.slot === null) return 'No target found.';
  const shared =
    explained.shares_engine_of === undefined ? '' : ` with the engine of slot ${explained.shares_engine_of}`;
  const load = explained.would_load ? ', which loads its model first' : ' (already loaded)';
  const queue = explained.queue_position > 1 ? ` Position ${explained.queue_position} in the queue.` : '';
  const abandoned = abandonedText(explained.abandoned);
  return `Goes to slot ${explained.slot}${shared}${load}.${queue}${abandoned === null ? '' : ` ${abandoned}`}`;
}

const nextTarget = ({ slot, upstream }: ExplainView['after'][number]): string =>
  `Next target: ${slot === null ? `upstream ${upstream}` : `slot ${slot}`}`;

/** The next step when no slot or upstream serves a model. */
export function NoRoute(): ReactElement {
  return (
    <p>
      <Link href="/slots?show=new">Add a slot</Link> or{' '}
      <Link href="/slots/upstreams?show=new">an upstream</Link> that serves it.
    </p>
  );
}

/** The result of a dry run: target, steps and the effect of a load. */
export function Resolution(props: { explained: ExplainView }): ReactElement {
  const { explained } = props;
  const others = failoverText(explained);
  const fallbacks = fallbackText(explained);
  const beyond = beyondText(explained);
  const chat = chatText(explained);
  return (
    <>
      <Note tone={explained.error === null ? 'ok' : 'failed'}>
        <p>{targetSentence(explained)}</p>
        {explained.balance === null ? null : <p>Chosen because {balanceText(explained.balance)}.</p>}
        {chat === null ? null : <p>{chat}</p>}
        {beyond === null ? null : <p>{beyond}</p>}
        {others === null ? null : <p>{others}</p>}
        {fallbacks === null ? null : <p>{fallbacks}</p>}
        {explained.error?.code === 'dispatch.no_route' ? <NoRoute /> : null}
      </Note>
      <RoutingSteps steps={explained.steps} placed={explained.error === null} />
      {explained.load === null ? null : <Forecast forecast={explained.load} />}
      {explained.after.map((next) => (
        <section key={`${next.slot} ${next.upstream}`} className={css.part}>
          <h3>{nextTarget(next)}</h3>
          {next.error === null ? null : <p className={css.soft}>{next.error.message}</p>}
          {next.load === null ? null : <Forecast forecast={next.load} />}
        </section>
      ))}
    </>
  );
}
