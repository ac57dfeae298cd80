import { AudioLines } from 'lucide-react';
import { type ReactElement, useEffect, useRef } from 'react';
import { Empty } from '../../../ui/empty.tsx';
import { State } from '../../../ui/state-badge.tsx';
import type { CallState } from './live-call.ts';
import type { VoiceTurn } from './transcript.ts';
import css from './voice.module.css';

const WHO = { you: 'You', model: 'Model' } as const;

/** Shown in place of text that is missing or still to come. */
function Lacking(props: { row: VoiceTurn }): ReactElement | null {
  const { who, state, text } = props.row;
  if (state === 'unheard') return <State tone="attention">Not understood</State>;
  if (text !== '') return null;
  if (state === 'open') return <State tone="busy">{who === 'you' ? 'Listening…' : 'Thinking…'}</State>;
  return state === 'done' ? <State tone="idle">No speech recognised</State> : null;
}

function Row(props: { row: VoiceTurn }): ReactElement {
  const { row } = props;
  return (
    <li className={row.who === 'you' ? css.you : css.model}>
      <p className={css.who}>{WHO[row.who]}</p>
      <p className={css.words} aria-busy={row.state === 'open'}>
        {row.text}
      </p>
      <Lacking row={row} />
      {row.state === 'cut' ? <State tone="idle">Interrupted</State> : null}
      {row.state === 'failed' ? <State tone="failed">Failed</State> : null}
    </li>
  );
}

/** The transcript of both sides, newest last. */
export function ConversationView(props: { call: CallState }): ReactElement {
  const { transcript, phase } = props.call;
  const box = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change may move the end
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [transcript.turns]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={box} className={css.transcript} tabIndex={0} aria-label="Transcript">
      {transcript.turns.length === 0 ? (
        <Empty icon={AudioLines} title={phase === 'live' ? 'Say something, or type it' : 'No transcript yet'}>
          <p>The transcript appears here. Audio never leaves your gateway.</p>
        </Empty>
      ) : (
        <ol className={css.rows}>
          {transcript.turns.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </ol>
      )}
    </section>
  );
}
