import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { StateShape } from '../../ui/state-badge.tsx';
import css from './overview.module.css';
import type { Concern } from './verdict.ts';

/** Open issues, each with its next step. */
export function Concerns(props: { concerns: readonly Concern[] }): ReactElement | null {
  if (props.concerns.length === 0) return null;
  return (
    <ul className={css.concerns} aria-label="Issues">
      {props.concerns.map((concern) => (
        <li key={`${concern.id} ${concern.message}`} data-tone={concern.tone}>
          <StateShape tone={concern.tone} />
          <p>
            {concern.message}
            {concern.href === undefined ? null : (
              <>
                {' '}
                <Link href={concern.href}>
                  View<span className="hidden-visually">: {concern.id}</span>
                </Link>
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
