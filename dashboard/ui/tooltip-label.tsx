import { Tooltip } from '@base-ui/react/tooltip';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import css from './tooltip-label.module.css';

/**
 * A label with a tooltip on hover, focus or tap. Screen readers get the explanation with the label.
 */
export function Explained(props: { text: string; children: ReactNode }): ReactElement {
  /** The tooltip renders next to the label so that it belongs to its landmark. */
  const box = useRef<HTMLSpanElement>(null);
  const [open, setOpen] = useState(false);
  return (
    <span ref={box} className={css.box}>
      <Tooltip.Root
        open={open}
        onOpenChange={(next, { reason }) => setOpen(next || reason === 'trigger-press')}
      >
        <Tooltip.Trigger className={css.word} delay={150} onClick={() => setOpen(true)}>
          {props.children}
          <span className="hidden-visually">. {props.text}</span>
        </Tooltip.Trigger>
        <Tooltip.Portal container={box}>
          <Tooltip.Positioner className={css.place} sideOffset={6} align="end" collisionPadding={8}>
            <Tooltip.Popup className={css.popup} aria-hidden="true">
              {props.text}
            </Tooltip.Popup>
          </Tooltip.Positioner>
        </Tooltip.Portal>
      </Tooltip.Root>
    </span>
  );
}
