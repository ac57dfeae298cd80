import { ArrowUp, Square } from 'lucide-react';
import { type KeyboardEvent, type ReactElement, useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import css from './composer.module.css';
import { isSomethingOpen } from './parts/layers.ts';
import { conversation, useConversation } from './store.ts';

/** Esc stops a running answer, unless it closes something that is open above the view. */
function useEscape(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || isSomethingOpen()) return;
      conversation.stop();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [active]);
}

/** Where the next message is written. */
export function Composer(props: { model: string | null }): ReactElement {
  const { draft, turns } = useConversation();
  const running = turns.at(-1)?.state === 'streaming';
  const field = useRef<HTMLTextAreaElement>(null);
  useEscape(running);
  const ask = (): void => {
    if (props.model !== null && !running) void conversation.ask(props.model);
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    ask();
  };
  return (
    <form
      className={css.composer}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <textarea
        ref={field}
        className={css.field}
        aria-label="Message"
        aria-describedby="composer-keys"
        placeholder="Write a message…"
        rows={2}
        value={draft}
        onChange={(event) => conversation.setDraft(event.target.value)}
        onKeyDown={onKey}
      />
      <div className={css.foot}>
        <p id="composer-keys" className={css.keys}>
          <kbd>Enter</kbd> sends, <kbd>Shift+Enter</kbd> starts a line, <kbd>Esc</kbd> stops
        </p>
        {running ? (
          <Button onClick={() => conversation.stop()}>
            <Square size={14} aria-hidden="true" /> Stop
          </Button>
        ) : (
          <Button type="submit" look="main" disabled={props.model === null || draft.trim() === ''}>
            <ArrowUp size={16} aria-hidden="true" /> Send
          </Button>
        )}
      </div>
    </form>
  );
}
