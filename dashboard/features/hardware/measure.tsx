import { type ReactElement, useCallback, useState } from 'react';
import type { DeviceRecord } from '../../../daemon/contract/hardware.ts';
import { Chart } from '../../ui/chart.tsx';
import { byteSize, timeOfDay } from '../../ui/format.ts';
import css from './hardware.module.css';
import { type HardwareHistory, type Measure, summaryOf } from './history.ts';

interface MeasureInfo {
  word: string;
  format: (value: number) => string;
  /** Upper end of the axis; null scales to the values. */
  max: (device: DeviceRecord) => number | null;
}

const rounded = (unit: string) => (value: number) => `${Math.round(value)} ${unit}`;
export const MEASURES_BY_NAME: Record<Measure, MeasureInfo> = {
  memory: { word: 'Memory', format: byteSize, max: (device) => device.memory_total_bytes },
  load: { word: 'Load', format: rounded('%'), max: () => 100 },
  power: { word: 'Power', format: rounded('W'), max: () => null },
  temperature: { word: 'Temperature', format: rounded('°C'), max: () => null },
};
const SPAN_S = 300;

/** A chart of one measure since the page was opened, with the current value. */
export function MeasureChart(props: {
  device: DeviceRecord;
  measure: Measure;
  history: HardwareHistory;
}): ReactElement {
  const { device, measure } = props;
  const info = MEASURES_BY_NAME[measure];
  const series = props.history.series(device.id, measure);
  const summary = summaryOf(series);
  const [point, setPoint] = useState<{ at: number; value: number } | null>(null);
  const onPoint = useCallback((next: typeof point) => setPoint(next), []);
  const now = summary?.last == null ? 'not reported' : info.format(summary.last);
  const range =
    summary === null
      ? 'no value yet'
      : `lowest ${info.format(summary.low)}, highest ${info.format(summary.high)}, ${summary.gaps} ${summary.gaps === 1 ? 'gap' : 'gaps'}`;
  return (
    <figure className={css.measure}>
      <figcaption>
        <span className={css.soft}>{info.word}</span>
        <span className={css.now}>
          {point === null ? now : `${info.format(point.value)} at ${timeOfDay(point.at)}`}
        </span>
      </figcaption>
      <Chart
        {...series}
        max={info.max(device)}
        span={SPAN_S}
        format={info.format}
        label={`${info.word} of ${device.name} since this page was opened: now ${now}; ${range}`}
        onPoint={onPoint}
      />
    </figure>
  );
}
