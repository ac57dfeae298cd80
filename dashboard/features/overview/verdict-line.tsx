import type { ReactElement } from 'react';
import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { moment, steadyDuration } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { StateShape } from '../../ui/state-badge.tsx';
import css from './overview.module.css';
import type { verdictOf } from './verdict.ts';

function Uptime(props: { since: number }): ReactElement {
  const now = useNow();
  const up = Math.max(0, now - props.since);
  return (
    <time dateTime={new Date(props.since).toISOString()} title={`Since ${moment(props.since)}`}>
      up {steadyDuration(up)}
    </time>
  );
}

/** The heading of the overview: the health summary, version and uptime. */
export function VerdictLine(props: {
  verdict: ReturnType<typeof verdictOf>;
  status: StatusOverviewView;
}): ReactElement {
  const { verdict, status } = props;
  return (
    <div className={css.verdict}>
      <StateShape tone={verdict.tone} size={24} />
      <h1>{verdict.sentence}</h1>
      <p className={css.facts}>
        {status.name} {status.version} · <Uptime since={status.started_at} />
      </p>
    </div>
  );
}
