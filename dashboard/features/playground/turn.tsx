import { RotateCcw } from 'lucide-react';
import { memo, type ReactElement, type RefObject, useRef } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Failure } from '../../ui/failure.tsx';
import { lazyView } from '../../ui/lazy/lazy-view.tsx';
import { State } from '../../ui/state-badge.tsx';
import { SentImages } from './attached-images.tsx';
import type { Turn } from './conversation.ts';
import { Measured } from './parts/measurements.tsx';
import { ToolCalls } from './tool-call-view.tsx';
import css from './turn.module.css';

const unchanged = ({ text }: { text: string }): ReactElement => <div className={css.plain}>{text}</div>;

/** Loads the Markdown renderer lazily; until then, and without it, the plain text is shown. */
const Markdown = lazyView({
  what: 'the answer',
  load: async () => (await import('./markdown.tsx')).Markdown,
  waiting: unchanged,
  without: unchanged,
});

function Reasoning(props: { turn: Turn }): ReactElement | null {
  const { turn } = props;
  if (turn.reasoning === '') return null;
  const thinking = turn.state === 'streaming' && turn.content === '';
  return (
    <details className={css.reasoning}>
      <summary>{thinking ? 'Reasoning…' : 'Reasoning'}</summary>
      <div className={css.plain}>{turn.reasoning}</div>
    </details>
  );
}

function End(props: {
  turn: Turn;
  again: (() => void) | undefined;
  shown: RefObject<HTMLElement | null>;
}): ReactElement | null {
  const { turn, again, shown } = props;
  if (turn.state === 'streaming') return null;
  if (turn.failure !== null) {
    return <Failure error={new ApiError(turn.failure)} {...(again ? { retry: again } : {})} />;
  }
  return (
    <div className={css.foot}>
      {turn.state === 'stopped' ? <State tone="idle">Stopped</State> : null}
      {turn.state === 'cut' ? <State tone="attention">Interrupted by a reload</State> : null}
      {turn.facts === null ? null : <Measured facts={turn.facts} />}
      <span className={css.tools}>
        <Copy text={turn.content} shown={shown} what="the answer" />
        {again ? (
          <Button variant="quiet" square aria-label="Regenerate answer" onClick={again}>
            <RotateCcw size={14} aria-hidden="true" />
          </Button>
        ) : null}
      </span>
    </div>
  );
}

export interface TurnProps {
  turn: Turn;
  /** The selected model; a change re-renders the turn. */
  model: string | null;
  again: (() => void) | undefined;
  give: ((key: string, content: string) => void) | undefined;
}

function Answer(props: TurnProps): ReactElement {
  const { turn } = props;
  const shown = useRef<HTMLDivElement>(null);
  const waiting =
    turn.state === 'streaming' && turn.content === '' && turn.reasoning === '' && turn.calls.length === 0;
  return (
    <li className={css.answer}>
      <p className={css.who}>{turn.model}</p>
      <Reasoning turn={turn} />
      <ToolCalls calls={turn.calls} give={props.give} />
      {waiting ? (
        <p className={css.waiting}>
          <span />
          <span />
          <span />
          <span className="hidden-visually">Waiting for the first token</span>
        </p>
      ) : null}
      <div ref={shown} className={css.text} aria-busy={turn.state === 'streaming'}>
        <Markdown text={turn.content} />
      </div>
      <End turn={turn} again={props.again} shown={shown} />
    </li>
  );
}

/** One message or answer. */
export const TurnView = memo(
  function TurnView(props: TurnProps): ReactElement {
    if (props.turn.role === 'assistant') return <Answer {...props} />;
    return (
      <li className={css.question}>
        <p className="hidden-visually">You</p>
        <SentImages images={props.turn.images} removed={props.turn.removedImages} />
        <div className={css.plain}>{props.turn.content}</div>
      </li>
    );
  },
  (a, b) => a.turn === b.turn && (a.again === undefined) === (b.again === undefined) && a.model === b.model,
);
