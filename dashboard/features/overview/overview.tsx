import { useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { useConnection } from '../../api/connection.ts';
import type { Reading } from '../../api/outdated.ts';
import { queries } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useTitle } from '../../app/title.ts';
import { Card } from '../../ui/card.tsx';
import columns from '../../ui/columns.module.css';
import { lazyView } from '../../ui/lazy/lazy-view.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { SetupNote } from '../setup/setup-note.tsx';
import { AgentOffer } from '../shared/agent-offer.tsx';
import { Checks } from './checks.tsx';
import { Devices } from './devices.tsx';
import { type Freshness, freshnessOf, healthSummary, issuesOf, trafficSentence } from './health-summary.ts';
import { Issues } from './issues.tsx';
import { useNextLoads } from './next-load.tsx';
import { PostureCard } from './posture-card.tsx';
import { Slots } from './slots.tsx';
import { HealthSummary } from './summary-line.tsx';
import traffic from './traffic.module.css';
import { TryIt } from './try-it.tsx';

function HourCard(props: { children: ReactNode }): ReactElement {
  return (
    <Card title="Last hour">
      <div className={traffic.waiting}>{props.children}</div>
    </Card>
  );
}

/** Loads the charts and their library lazily: the first render does not need them, and the page works without. */
const Traffic = lazyView({
  what: 'the last hour',
  load: async () => (await import('./traffic.tsx')).Traffic,
  waiting: () => (
    <HourCard>
      <Skeleton lines={6} what="the last hour" />
    </HourCard>
  ),
  without: () => (
    <HourCard>
      <p>The graphs could not be loaded. Reopen this view to try again.</p>
    </HourCard>
  ),
});

/** How current the data behind the health summary is. */
function useFreshness(complete: boolean, reads: readonly Reading[]): Freshness {
  const { up } = useConnection();
  const { sessionState } = useSession();
  if (!up || sessionState === 'expired' || sessionState === 'enforced') return 'old';
  return freshnessOf(complete, reads);
}

/** Maximum time that the parts wait for each other. */
const MAX_WAIT_MS = 2_000;

/** Whether to wait for the first data. The parts appear together, so that none moves while the reader looks at it. */
function useWaiting(isPending: boolean): boolean {
  const [isOver, setIsOver] = useState(!isPending);
  useEffect(() => {
    if (!isPending) {
      setIsOver(true);
      return;
    }
    const timer = setTimeout(() => setIsOver(true), MAX_WAIT_MS);
    return () => clearTimeout(timer);
  }, [isPending]);
  return isPending && !isOver;
}

/** The health of the gateway on one screen. */
export function Overview(): ReactElement {
  useTitle('Overview');
  const status = useQuery(queries.status);
  const slots = useQuery(queries.slots);
  const checks = useQuery(queries.checks);
  const hardware = useQuery(queries.hardware);
  const settings = useQuery(queries.settings);
  const upstreams = useQuery(queries.upstreams);
  const pulls = useQuery(queries.pulls);
  const minutes = useQuery(queries.minutes);
  const setup = useQuery(queries.setup);
  const next = useNextLoads(slots.data?.slots ?? []);
  const issues = issuesOf({
    slots: slots.data?.slots,
    checks: checks.data,
    status: status.data,
    problems: settings.data?.problems,
    upstreams: upstreams.data?.upstreams,
    pulls: pulls.data?.pulls,
    plans: next.plans,
    minutes: minutes.data?.minutes,
    setup: setup.data,
  });
  const parts = [status, slots, checks, hardware, settings, upstreams, pulls, minutes, setup];
  const isWaiting = useWaiting(parts.some(({ isPending }) => isPending) || next.isPending);
  const isComplete = [slots, checks, minutes].every(({ data }) => data !== undefined);
  const known = useFreshness(isComplete, [status, slots, checks, settings, upstreams, pulls, minutes]);
  if (isWaiting) {
    return (
      <>
        <h1>Overview</h1>
        <Skeleton lines={12} what="the overview" />
      </>
    );
  }
  return (
    <>
      {status.data === undefined ? <h1>Overview</h1> : null}
      <Loaded query={status} what="the state of the gateway" lines={1}>
        {(data) => (
          <HealthSummary
            summary={healthSummary(issues, known)}
            status={data}
            traffic={trafficSentence(minutes.data?.minutes)}
          />
        )}
      </Loaded>
      <SetupNote />
      <AgentOffer />
      <Issues issues={issues} />
      <div className={columns.uneven}>
        <div className={columns.column}>
          <Slots query={slots} />
          <Traffic />
          <TryIt slots={slots.data?.slots} status={status.data} />
        </div>
        <div className={columns.column}>
          <Devices query={hardware} slots={slots.data?.slots ?? []} />
          <PostureCard query={status} />
          <Checks query={checks} />
        </div>
      </div>
    </>
  );
}
