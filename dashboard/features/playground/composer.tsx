import { ArrowUp, Square } from 'lucide-react';
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { AttachButton, attach, DraftImages } from './attached-images.tsx';
import css from './composer.module.css';
import { pasted } from './image-file.ts';
import { isSomethingOpen } from './parts/layers.ts';
import { conversation, useConversation } from './store.ts';

/** Esc stops a running answer, unless it closes an open dialog, list or menu. */
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

/** The message field. Images can be added or pasted when the model supports vision. */
export function Composer(props: {
  model: string | null;
  /** Why sending is disabled, when that is not obvious. */
  lacks: string | null;
  sees: boolean;
}): ReactElement {
  const { draft, turns, images } = useConversation();
  const running = turns.at(-1)?.state === 'streaming';
  const field = useRef<HTMLTextAreaElement>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEscape(running);
  const add = (files: readonly File[]): void => void attach(files).then(setFault);
  const send = (): void => {
    if (props.model !== null && !running) void conversation.send(props.model);
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className={css.composer}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <DraftImages images={images} />
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
        onPaste={(event) => {
          const { files, words } = pasted(event.clipboardData);
          if (!props.sees || files.length === 0) return;
          // The browser inserts text that is pasted together with an image, for example from a table.
          if (!words) event.preventDefault();
          add(files);
        }}
      />
      <div className={css.foot}>
        {props.sees ? <AttachButton fault={fault} onFiles={add} /> : null}
        <p id="composer-keys" className={css.keys}>
          {props.lacks ?? (
            <>
              <kbd>Enter</kbd> to send, <kbd>Shift+Enter</kbd> for a new line, <kbd>Esc</kbd> to stop
            </>
          )}
        </p>
        {/* Separate keys: a shared element would submit again when a press on Stop ends on the submit button. */}
        {running ? (
          <Button key="stop" onClick={() => conversation.stop()}>
            <Square size={14} aria-hidden="true" /> Stop
          </Button>
        ) : (
          <Button
            key="send"
            type="submit"
            variant="main"
            disabled={props.model === null || (draft.trim() === '' && images.length === 0)}
          >
            <ArrowUp size={16} aria-hidden="true" /> Send
          </Button>
        )}
      </div>
    </form>
  );
}
