import { Popover } from '@base-ui/react/popover';
import { CircleQuestionMark } from 'lucide-react';
import { type ReactElement, useRef } from 'react';
import css from './help.module.css';

/** A term of the dashboard with its explanation. */
export interface Term {
  /** The question that names the button, such as "What is a slot?". */
  readonly question: string;
  /** One sentence. */
  readonly short: string;
  /** The details, in two or three sentences. */
  readonly more: string;
}

/** A "?" button that opens the explanation of a term. Works by mouse, touch and keyboard; Escape closes it. */
export function HelpMark(props: { term: Term }): ReactElement {
  const { question, short, more } = props.term;
  /** The popover renders next to the button so that it belongs to its landmark. */
  const box = useRef<HTMLSpanElement>(null);
  return (
    <span ref={box} className={css.box}>
      <Popover.Root>
        <Popover.Trigger className={css.mark} aria-label={question}>
          <CircleQuestionMark size={16} aria-hidden="true" />
        </Popover.Trigger>
        <Popover.Portal container={box}>
          <Popover.Positioner className={css.positioner} sideOffset={6} align="start" collisionPadding={8}>
            <Popover.Popup className={css.popup}>
              <Popover.Title className={css.title} render={<p />}>
                {question}
              </Popover.Title>
              <Popover.Description className={css.text}>
                {short} {more}
              </Popover.Description>
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
    </span>
  );
}

/** Introduces a term where it first appears: one sentence and a "?" button with more. */
export function HelpLine(props: { term: Term }): ReactElement {
  return (
    <div className={css.line}>
      {props.term.short} <HelpMark term={props.term} />
    </div>
  );
}
