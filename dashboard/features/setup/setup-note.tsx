import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { queries } from '../../api/queries.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Note } from '../../ui/note.tsx';
import css from './setup-note.module.css';
import { useApply } from './use-setup.ts';

/** A note on the overview while setup is pending; it can be dismissed. */
export function SetupNote(): ReactElement | null {
  const { data } = useQuery(queries.setup);
  const dismiss = useApply();
  if (data === undefined || !data.pending) return null;
  return (
    <Note tone="idle">
      <div className={css.line}>
        <p>Finish setting up: choose models, access and an admin key.</p>
        <div className={css.acts}>
          <Link className={buttonClass('main')} href="/setup">
            Continue setup
          </Link>
          <Button busy={dismiss.isPending} onClick={() => dismiss.mutate({ finished: true })}>
            Dismiss
          </Button>
        </div>
      </div>
    </Note>
  );
}
