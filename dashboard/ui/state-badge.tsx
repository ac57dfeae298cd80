import { Circle, CircleCheck, CircleDashed, type LucideIcon, OctagonX, TriangleAlert } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import css from './state-badge.module.css';
import type { Tone } from './tone.ts';

const SHAPES: Record<Tone, LucideIcon> = {
  ok: CircleCheck,
  busy: CircleDashed,
  attention: TriangleAlert,
  failed: OctagonX,
  idle: Circle,
};

/** The icon of a state in its colour. Decorative: the label is next to it. */
export function StateShape(props: { tone: Tone; size?: number }): ReactElement {
  const Shape = SHAPES[props.tone];
  return <Shape className={css.shape} data-tone={props.tone} size={props.size ?? 16} aria-hidden="true" />;
}

/** A state as icon, colour and label. */
export function State(props: { tone: Tone; children: ReactNode }): ReactElement {
  return (
    <span className={css.state} data-tone={props.tone}>
      <StateShape tone={props.tone} size={14} />
      {props.children}
    </span>
  );
}

/** A state on a soft background, for standalone use. */
export function Badge(props: { tone: Tone; children: ReactNode }): ReactElement {
  return (
    <span className={css.badge} data-tone={props.tone}>
      <StateShape tone={props.tone} size={14} />
      <span className={css.word}>{props.children}</span>
    </span>
  );
}
