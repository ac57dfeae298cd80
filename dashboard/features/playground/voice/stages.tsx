import type { ReactElement } from 'react';
import { Card } from '../../../ui/card.tsx';
import { duration } from '../../../ui/format.ts';
import { ThinBar } from '../../../ui/thin-bar.tsx';
import css from './stages.module.css';
import type { StageTimes } from './transcript.ts';

const ROWS: ReadonlyArray<readonly [name: keyof StageTimes, word: string]> = [
  ['heard', 'Understood what was said'],
  ['firstWord', 'First word of the answer'],
  ['words', 'All its words'],
  ['firstSound', 'First sound of the voice'],
  ['sound', 'All its sound'],
  ['total', 'The whole answer'],
];

/** How long each stage of the last answer took, as the gateway measured it, and what was heard here. */
export function Stages(props: { times: StageTimes; heardHereMs: number | null }): ReactElement {
  const { times } = props;
  const most = Math.max(1, ...ROWS.map(([name]) => times[name] ?? 0), props.heardHereMs ?? 0);
  const rows: [string, number | null][] = [
    ...ROWS.map(([name, word]): [string, number | null] => [word, times[name]]),
    ['From your last word to the first sound here', props.heardHereMs],
  ];
  return (
    <Card title="The stages of the last answer">
      <dl className={css.stages}>
        {rows.map(([word, ms]) =>
          ms === null ? null : (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{duration(ms)}</dd>
              <ThinBar className={css.share} percent={Math.max(0.5, (ms / most) * 100)} />
            </div>
          ),
        )}
      </dl>
    </Card>
  );
}
