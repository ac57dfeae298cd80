import type { ReactElement } from 'react';
import { Card } from '../../../ui/card.tsx';
import { duration } from '../../../ui/format.ts';
import { ThinBar } from '../../../ui/thin-bar.tsx';
import css from './stages.module.css';
import type { StageTimes } from './transcript.ts';

const ROWS: ReadonlyArray<readonly [name: keyof StageTimes, word: string]> = [
  ['transcription', 'Speech recognised'],
  ['firstToken', 'First token'],
  ['text', 'Text done'],
  ['firstAudio', 'First audio'],
  ['audio', 'Audio done'],
  ['total', 'Total'],
];

/** Latency of each stage of the last answer as measured by the gateway, and the time to first audio in this browser. */
export function Stages(props: { times: StageTimes; firstSoundMs: number | null }): ReactElement {
  const { times } = props;
  const max = Math.max(1, ...ROWS.map(([name]) => times[name] ?? 0), props.firstSoundMs ?? 0);
  const rows: [string, number | null][] = [
    ...ROWS.map(([name, word]): [string, number | null] => [word, times[name]]),
    ['Time to first audio', props.firstSoundMs],
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
