import type { ReactElement } from 'react';
import { Card } from '../../../ui/card.tsx';
import { duration } from '../../../ui/format.ts';
import { ThinBar } from '../../../ui/thin-bar.tsx';
import css from './stages.module.css';
import type { StageTimes } from './transcript.ts';

const ROWS: ReadonlyArray<readonly [name: keyof StageTimes, word: string]> = [
  ['heard', 'Speech recognised'],
  ['firstWord', 'First token'],
  ['words', 'Text done'],
  ['firstSound', 'First audio'],
  ['sound', 'Audio done'],
  ['total', 'Total'],
];

/** Latency of each stage of the last answer as measured by the gateway, and the time to first audio in this browser. */
export function Stages(props: { times: StageTimes; heardHereMs: number | null }): ReactElement {
  const { times } = props;
  const max = Math.max(1, ...ROWS.map(([name]) => times[name] ?? 0), props.heardHereMs ?? 0);
  const rows: [string, number | null][] = [
    ...ROWS.map(([name, word]): [string, number | null] => [word, times[name]]),
    ['Time to first audio', props.heardHereMs],
  ];
  return (
    <Card title="Latency">
      <dl className={css.stages}>
        {rows.map(([word, ms]) =>
          ms === null ? null : (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{duration(ms)}</dd>
              <ThinBar className={css.share} percent={Math.max(0.5, (ms / max) * 100)} />
            </div>
          ),
        )}
      </dl>
    </Card>
  );
}
