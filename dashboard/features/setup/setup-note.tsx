import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { queries } from '../../api/queries.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Note } from '../../ui/note.tsx';
import css from './setup-note.module.css';
import { useApply } from './use-setup.ts';

/** Says on the overview that the setup is not done, until it is or somebody waves it away. */
export function SetupNote(): ReactElement | null {
  const { data } = useQuery(queries.setup);
  const dismiss = useApply();
  if (data === undefined || !data.pending) return null;
  return (
    <Note tone="idle">
      <div className={css.line}>
        <p>This gateway is not set up yet: models, who may reach it, the admin key.</p>
        <div className={css.acts}>
          <Link className={buttonClass('main')} href="/setup">
            Go on with setup
          </Link>
          <Button busy={dismiss.isPending} onClick={() => dismiss.mutate({ finished: true })}>
            Don’t show this
          </Button>
        </div>
      </div>
    </Note>
  );
}
