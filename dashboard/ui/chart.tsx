import 'uplot/dist/uPlot.min.css';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import css from './chart.module.css';
import { timeRange } from './time-range.ts';

export interface ChartProps {
  /** Unix seconds in ascending order. */
  times: readonly number[];
  /** Null is a gap. */
  values: readonly (number | null)[];
  /** Upper end of the axis; null scales to the values. */
  max: number | null;
  /** Minimum time span of the axis in seconds. */
  span: number;
  format: (value: number) => string;
  /** Description for screen readers. */
  label: string;
  /** Draws bars of this width in seconds instead of a line. */
  bars?: number;
  /** Called with the point under the pointer, or null. */
  onPoint: (point: { at: number; value: number } | null) => void;
}

const HEIGHT = 112;
/** Half the width of a time label. */
const HALF_TIME_PX = 24;
const FONT = '12px system-ui, sans-serif';

/** Resolves a theme colour, because the canvas does not support custom properties. */
function colourOf(element: HTMLElement, name: string): string {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const colour = getComputedStyle(element).color;
  element.style.color = before;
  return colour;
}

function useTheme(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const change = (): void => setTurn((was) => was + 1);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', change);
    const watch = new MutationObserver(change);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      dark.removeEventListener('change', change);
      watch.disconnect();
    };
  }, []);
  return turn;
}

/** Extends the axis by one bar, so that the last bar is not cut off. */
function rangeOf({ times, span, bars = 0 }: ChartProps): [number, number] {
  const [low, high] = timeRange(times, span, Date.now() / 1000);
  return [low, high + bars];
}

function seriesOf(element: HTMLElement, { bars }: ChartProps): uPlot.Series {
  const [stroke, soft] = [colourOf(element, '--accent'), colourOf(element, '--accent-soft')];
  if (bars === undefined) return { stroke, fill: soft, width: 1.5, spanGaps: false };
  const paths = uPlot.paths.bars?.({ align: 1, size: [0.8, 24] });
  return { stroke, fill: stroke, width: 0, points: { show: false }, ...(paths && { paths }) };
}

function optionsFor(element: HTMLElement, props: React.RefObject<ChartProps>): uPlot.Options {
  const soft = colourOf(element, '--text-soft');
  const grid = { stroke: colourOf(element, '--border'), width: 1 };
  const axis = { stroke: soft, font: FONT, grid, ticks: { show: false } };
  return {
    width: Math.max(120, element.clientWidth),
    height: HEIGHT,
    padding: [8, 32, 0, 0], // half of a time label with AM or PM at the very end
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { range: () => rangeOf(props.current) },
      y: {
        range: (_plot, _low, high) => [0, props.current.max ?? Math.max(1, (high ?? 1) * 1.15)],
      },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 20, space: 90, values: timesOf },
      {
        ...axis,
        size: 64,
        splits: (plot) => {
          const top = plot.scales.y?.max ?? 1;
          return [0, top / 2, top];
        },
        values: (_plot, at) => at.map((value) => props.current.format(value)),
      },
    ],
    series: [{}, seriesOf(element, props.current)],
    hooks: { setCursor: [(plot) => props.current.onPoint(pointOf(plot))] },
  };
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const clockText = (seconds: number): string => clock.format(seconds * 1000);
/** Time labels of the axis; omits one that would touch the labels of the other axis. */
const timesOf = (plot: uPlot, at: number[]): (string | null)[] =>
  at.map((seconds) => (plot.valToPos(seconds, 'x') < HALF_TIME_PX ? null : clockText(seconds)));

function pointOf(plot: uPlot): { at: number; value: number } | null {
  const { idx } = plot.cursor;
  if (idx == null) return null;
  const [at, value] = [plot.data[0][idx], plot.data[1]?.[idx]];
  return at === undefined || value == null ? null : { at: at * 1000, value };
}

const dataOf = (props: ChartProps): uPlot.AlignedData => [[...props.times], [...props.values]];

/** A time series chart. Gaps are never interpolated. */
export function Chart(props: ChartProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new theme needs new colours
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const chart = new uPlot(optionsFor(element, latest), dataOf(latest.current), element);
    plot.current = chart;
    const resize = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(120, element.clientWidth), height: HEIGHT }),
    );
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [theme]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props]);
  return <div ref={box} className={css.chart} role="img" aria-label={props.label} />;
}
