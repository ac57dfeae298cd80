import type { ReactElement } from 'react';
import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { moment, steadyDuration } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { StateShape } from '../../ui/state-badge.tsx';
import type { healthSummary } from './health-summary.ts';
import css from './overview.module.css';

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
export function HealthSummary(props: {
  summary: ReturnType<typeof healthSummary>;
  status: StatusOverviewView;
  /** What is known about recent requests. */
  traffic: string | null;
}): ReactElement {
  const { summary, status } = props;
  return (
    <div className={css.summary}>
      <StateShape tone={summary.tone} size={24} />
      <h1>{summary.sentence}</h1>
      <p className={css.facts}>
        {status.name} {status.version} · <Uptime since={status.started_at} />
        {props.traffic === null ? '' : ` · ${props.traffic}`}
      </p>
    </div>
  );
}
