import { ArrowDownToLine, Pause, Play } from 'lucide-react';
import { type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { Failure } from '../failure.tsx';
import { count, moment, timeOfDay } from '../format.ts';
import { State } from '../state-badge.tsx';
import type { Tone } from '../tone.ts';
import css from './log.module.css';
import { type LiveLog, type LogLine, MAX_LINES } from './use-log.ts';

/** Distance from the end, in CSS pixels, that still counts as the end. */
const NEAR = 24;

const STATES: Record<LiveLog['state'], { tone: Tone; word: string }> = {
  opening: { tone: 'busy', word: 'Opening' },
  live: { tone: 'ok', word: 'Live' },
  broken: { tone: 'attention', word: 'Disconnected, retrying' },
};

function Line(props: { line: LogLine }): ReactElement {
  const { line } = props;
  return (
    <div className={css.line} data-line={line.tone}>
      {line.at === null ? null : (
        <time dateTime={new Date(line.at).toISOString()} title={moment(line.at)}>
          {timeOfDay(line.at)}
        </time>
      )}
      <span>{line.text}</span>
    </div>
  );
}

function useEnd(lines: unknown) {
  const box = useRef<HTMLElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const toEnd = (): void => box.current?.scrollTo(0, box.current.scrollHeight);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines move the end
  useEffect(() => {
    if (atEnd) toEnd();
  }, [lines, atEnd]);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
  };
  return { box, atEnd, toEnd, onScroll };
}

/** A live log. Follows its end until the user scrolls up, can be paused, and shows the connection state. */
export function LogView(props: {
  log: LiveLog;
  what: string;
  /** Shown while there are no lines. */
  empty: ReactNode;
  children?: ReactNode;
}): ReactElement {
  const { log } = props;
  const { box, atEnd, toEnd, onScroll } = useEnd(log.lines);
  const state = log.paused ? ({ tone: 'idle', word: 'Paused' } as const) : STATES[log.state];
  if (log.error !== null) return <Failure error={log.error} retry={log.retry} />;
  return (
    <div className={css.log}>
      <div className={css.bar}>
        {props.children}
        <span className={css.state} role="status">
          <State tone={state.tone}>{state.word}</State>
          {log.held > 0 ? <span className={css.held}>{log.held} new lines</span> : null}
        </span>
        <Button onClick={() => log.pause(!log.paused)}>
          {log.paused ? <Play size={14} aria-hidden="true" /> : <Pause size={14} aria-hidden="true" />}
          {log.paused ? 'Resume' : 'Pause'}
        </Button>
        <Button disabled={atEnd} onClick={toEnd}>
          <ArrowDownToLine size={14} aria-hidden="true" /> Jump to latest
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section ref={box} className={css.lines} tabIndex={0} aria-label={props.what} onScroll={onScroll}>
        {log.lines.length === 0 && log.state !== 'opening' ? (
          <div className={css.none}>{props.empty}</div>
        ) : null}
        {log.lines.map(({ key, line }) => (
          <Line key={key} line={line} />
        ))}
      </section>
      <p className={css.foot}>Showing the last {count(MAX_LINES)} lines.</p>
    </div>
  );
}
