import { MessageSquareText, Undo2 } from 'lucide-react';
import { type ReactElement, type RefObject, useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import type { Turn } from './conversation.ts';
import { NoModel } from './parts/no-model.tsx';
import { conversation, useConversation } from './store.ts';
import { type TurnProps, TurnView } from './turn.tsx';
import css from './turns.module.css';

const NEAR_PX = 80;
const STARTERS = ['Hello! Who are you?', 'Explain what an inference gateway does, in three sentences.'];

/** Keeps the end in view while text arrives, unless the user has scrolled up. */
function useStickToEnd(turns: readonly Turn[]): RefObject<HTMLElement | null> {
  const box = useRef<HTMLElement>(null);
  const near = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const onScroll = (): void => {
      near.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    };
    // An opening on-screen keyboard makes the box lower.
    const resized = new ResizeObserver(() => {
      if (near.current) element.scrollTo({ top: element.scrollHeight });
    });
    resized.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, []);
  const count = turns.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn always scrolls to the end
  useEffect(() => {
    near.current = true;
  }, [count]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the turns may move the end
  useEffect(() => {
    if (near.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [turns]);
  return box;
}

function statusOf(last: Turn | undefined): string {
  if (last?.role !== 'assistant') return '';
  const words = {
    streaming: 'The model is answering.',
    done: 'The answer is complete.',
    stopped: 'The answer was stopped.',
    cut: 'The answer was interrupted.',
    failed: '',
  };
  if (last.state === 'done' && last.facts?.limited) return 'The answer reached the token limit.';
  return words[last.state];
}

function Start(props: { model: string | null; none: boolean }): ReactElement {
  if (props.none) return <NoModel ability="chat" />;
  return (
    <Empty icon={MessageSquareText} title="Ask something">
      <p>Stays in this tab; sent only to your gateway.</p>
      {STARTERS.map((text) => (
        <Button
          key={text}
          disabled={props.model === null}
          onClick={() => {
            conversation.setDraft(text);
            if (props.model !== null) void conversation.send(props.model);
          }}
        >
          <span className={css.starter}>{text}</span>
        </Button>
      ))}
      {conversation.canRestore() ? (
        <Button variant="quiet" onClick={() => conversation.restore()}>
          <Undo2 size={16} aria-hidden="true" /> Restore last conversation
        </Button>
      ) : null}
    </Empty>
  );
}

/** Actions of a turn: only the last one can be regenerated or receive tool results. */
function actionsOf(turn: Turn, last: boolean, model: string | null): Omit<TurnProps, 'turn'> {
  if (!last || model === null) return { model, again: undefined, give: undefined };
  const give =
    turn.state === 'done'
      ? (key: string, content: string) => void conversation.give(key, content, model)
      : undefined;
  return { model, again: () => void conversation.again(model), give };
}

/** The conversation so far. */
export function Turns(props: { model: string | null; none: boolean }): ReactElement {
  const { turns } = useConversation();
  const box = useStickToEnd(turns);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={box} className={css.box} tabIndex={0} aria-label="Conversation">
      <p className="hidden-visually" role="status">
        {statusOf(turns.at(-1))}
      </p>
      {turns.length === 0 ? (
        <Start {...props} />
      ) : (
        <ol className={css.turns}>
          {turns.map((turn, at) => (
            <TurnView key={turn.id} turn={turn} {...actionsOf(turn, at === turns.length - 1, props.model)} />
          ))}
        </ol>
      )}
    </section>
  );
}
