import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { StateShape } from '../../ui/state-badge.tsx';
import type { Issue } from './health-summary.ts';
import css from './overview.module.css';

/** Open issues, each with its next step. */
export function Issues(props: { issues: readonly Issue[] }): ReactElement | null {
  if (props.issues.length === 0) return null;
  return (
    <ul className={css.issues} aria-label="Issues">
      {props.issues.map((issue) => (
        <li key={`${issue.id} ${issue.message}`} data-tone={issue.tone}>
          <StateShape tone={issue.tone} />
          <p>
            {issue.message}
            {issue.href === undefined ? null : (
              <>
                {' '}
                <Link href={issue.href}>
                  View<span className="hidden-visually">: {issue.id}</span>
                </Link>
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
