import { useQueries } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SlotPlanView, SlotRecord } from '../../../daemon/contract/slots.ts';
import { queries } from '../../api/queries.ts';
import { byteSize } from '../../ui/format.ts';
import { StateShape } from '../../ui/state-badge.tsx';
import { forecastSentence } from '../shared/forecast.ts';
import css from './devices.module.css';
import { nextLoads } from './next-loads.ts';

const POLL_MS = 60_000;

/** Forecasts of the loads that are likely next. Fetched for a few slots only. */
export function useNextLoads(slots: readonly SlotRecord[]): {
  plans: readonly SlotPlanView[];
  isPending: boolean;
} {
  const plans = useQueries({
    queries: nextLoads(slots).map((name) => ({
      ...queries.plan(name),
      refetchInterval: POLL_MS,
      retry: false,
    })),
  });
  return {
    plans: plans.flatMap(({ data }) => (data === undefined ? [] : [data])),
    isPending: plans.some((plan) => plan.isPending),
  };
}

/** The memory that one load needs and the slots that it would unload. */
export function NextLoad(props: { plan: SlotPlanView }): ReactElement {
  const { slot, model, need, forecast } = props.plan;
  const { tone, text } = forecastSentence(forecast);
  return (
    <li className={css.next}>
      <StateShape tone={tone} size={14} />
      <span>
        Loading <Link href={`/slots?slot=${encodeURIComponent(slot)}&show=load`}>{slot}</Link> ({model}) needs{' '}
        <b>{byteSize(need.total)}</b>. {text}
      </span>
    </li>
  );
}
