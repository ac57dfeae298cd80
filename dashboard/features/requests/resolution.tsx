import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { ExplainView } from '../../../daemon/contract/system.ts';
import { Note } from '../../ui/note.tsx';
import { Forecast } from '../shared/forecast.tsx';
import { Ladder } from './ladder.tsx';
import css from './requests.module.css';

/** Where a request would go and what it would wait for, in one sentence. */
export function verdictOf(explained: ExplainView): string {
  if (explained.error !== null) return explained.error.message;
  if (explained.upstream !== null) return `It goes to upstream ${explained.upstream}.`;
  if (explained.slot === null) return 'It goes nowhere.';
  const load = explained.would_load ? ', which loads its model first' : ', which is loaded';
  const queue = explained.queue_position > 1 ? ` It is number ${explained.queue_position} in the queue.` : '';
  return `It goes to slot ${explained.slot}${load}.${queue}`;
}

const followerOf = ({ slot, upstream }: ExplainView['after'][number]): string =>
  `If that one can’t serve it: ${slot === null ? `upstream ${upstream}` : `slot ${slot}`}`;

/** The way out when nobody serves a model. */
export function NoRoute(): ReactElement {
  return (
    <p>
      <Link href="/slots?show=new">Add a slot</Link> or{' '}
      <Link href="/slots/upstreams?show=new">an upstream</Link> that serves it.
    </p>
  );
}

/** The whole answer of a replay: verdict, ladder, and what a load would do. */
export function Resolution(props: { explained: ExplainView }): ReactElement {
  const { explained } = props;
  return (
    <>
      <Note tone={explained.error === null ? 'ok' : 'failed'}>
        <p>{verdictOf(explained)}</p>
        {explained.error?.code === 'dispatch.no_route' ? <NoRoute /> : null}
      </Note>
      <Ladder steps={explained.steps} placed={explained.error === null} />
      {explained.load === null ? null : <Forecast forecast={explained.load} />}
      {explained.after.map((next) => (
        <section key={`${next.slot} ${next.upstream}`} className={css.part}>
          <h3>{followerOf(next)}</h3>
          {next.error === null ? null : <p className={css.soft}>{next.error.message}</p>}
          {next.load === null ? null : <Forecast forecast={next.load} />}
        </section>
      ))}
    </>
  );
}
