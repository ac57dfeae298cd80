import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { StateShape } from '../../ui/state-badge.tsx';
import css from './overview.module.css';
import type { Concern } from './verdict.ts';

/** What needs attention, each with what to do about it. */
export function Concerns(props: { concerns: readonly Concern[] }): ReactElement | null {
  if (props.concerns.length === 0) return null;
  return (
    <ul className={css.concerns} aria-label="What needs attention">
      {props.concerns.map((concern) => (
        <li key={`${concern.id} ${concern.message}`} data-tone={concern.tone}>
          <StateShape tone={concern.tone} />
          <p>
            {concern.message}
            {concern.href === undefined ? null : (
              <>
                {' '}
                <Link href={concern.href}>
                  Look at it<span className="hidden-visually">: {concern.id}</span>
                </Link>
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
