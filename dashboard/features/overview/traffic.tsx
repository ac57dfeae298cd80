import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useCallback, useState } from 'react';
import { Link } from 'wouter';
import type { MinuteRow } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { count, duration, timeOfDay } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { axisMax, hourSummary, isFullHour, seriesOf } from './minutes.ts';
import css from './traffic.module.css';

const SPAN_S = 59 * 60;
const MINUTE_S = 60;
/** Top of the latency axis while there is no data. */
const NO_WAIT_MS = 100;

function Graph(props: {
  word: string;
  /** Shown while the pointer is outside the chart. */
  now: string;
  label: string;
  minutes: readonly MinuteRow[];
  value: (row: MinuteRow) => number | null;
  format: (value: number) => string;
  max: number | null;
}): ReactElement {
  const [point, setPoint] = useState<{ at: number; value: number } | null>(null);
  const onPoint = useCallback((next: typeof point) => setPoint(next), []);
  return (
    <figure className={css.graph}>
      <figcaption>
        <span className={css.soft}>{props.word}</span>
        <span className={css.now}>
          {point === null ? props.now : `${props.format(point.value)} at ${timeOfDay(point.at)}`}
        </span>
      </figcaption>
      <Chart
        {...seriesOf(props.minutes, props.value)}
        bars={MINUTE_S}
        max={props.max}
        span={SPAN_S}
        format={props.format}
        label={props.label}
        onPoint={onPoint}
      />
    </figure>
  );
}

function Graphs(props: { minutes: readonly MinuteRow[] }): ReactElement {
  const { minutes } = props;
  const hour = hourSummary(minutes);
  const failed = hour.failed === 0 ? '' : `, ${count(hour.failed)} failed`;
  const refused = hour.refused === 0 ? '' : `, ${count(hour.refused)} refused`;
  const all = `${count(hour.requests)} ${hour.requests === 1 ? 'request' : 'requests'}${failed}${refused}`;
  const [low, high] = hour.wait === null ? [] : [duration(hour.wait.low), duration(hour.wait.high)];
  const waits = low === undefined ? 'no requests' : low === high ? low : `${low} to ${high}`;
  return (
    <>
      <div className={css.graphs}>
        <Graph
          word="Requests per minute"
          now={all}
          label={`Requests per minute in the last hour: ${all}, at most ${count(hour.peak)} per minute`}
          minutes={minutes}
          value={({ requests }) => requests}
          format={count}
          max={axisMax(hour.peak)}
        />
        <Graph
          word="Time to first token"
          now={waits}
          label={`Median time to first token per minute in the last hour: ${waits}`}
          minutes={minutes}
          value={({ ttft_ms }) => ttft_ms}
          format={duration}
          max={hour.wait === null ? NO_WAIT_MS : null}
        />
      </div>
      {isFullHour(minutes) ? null : <p className={css.soft}>No data from before the last start.</p>}
    </>
  );
}

/** Traffic and latency of the last hour. */
export function Traffic(): ReactElement {
  const minutes = useQuery(queries.minutes);
  return (
    <Card title="Last hour" aside={<Link href="/requests">All requests</Link>}>
      <Loaded query={minutes} what="the last hour" lines={6}>
        {(data) => <Graphs minutes={data.minutes} />}
      </Loaded>
    </Card>
  );
}
