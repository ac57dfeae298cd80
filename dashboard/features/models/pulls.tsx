import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { Failure } from '../../ui/failure.tsx';
import css from './models.module.css';
import { PullItem } from './pull-item.tsx';
import { isOpen } from './pull-state.ts';
import type { Show } from './url-state.ts';

/** Maximum number of finished downloads in the list. */
const MAX_FINISHED = 10;

/** Active and recently finished downloads. Renders nothing while there are none. */
export function Pulls(props: { open: (show: Show, of: string) => void }): ReactElement | null {
  const pulls = useQuery(queries.pulls);
  const models = useQuery(queries.registry);
  if (pulls.data === undefined) {
    // When the list of models has failed as well, it shows the error.
    return pulls.isError && !models.isError ? <Failure error={pulls.error} /> : null;
  }
  const open = pulls.data.pulls.filter(isOpen);
  const ended = pulls.data.pulls.filter((pull) => !isOpen(pull)).slice(0, MAX_FINISHED);
  if (open.length + ended.length === 0) return null;
  return (
    <Card title="Downloads" flush>
      {open.length === 0 ? null : (
        <ul className={css.list} aria-label="Active downloads">
          {open.map((pull) => (
            <PullItem key={pull.id} pull={pull} open={props.open} />
          ))}
        </ul>
      )}
      {ended.length === 0 ? null : (
        <details className={css.ended}>
          <summary>Finished ({ended.length})</summary>
          <ul className={css.list} aria-label="Finished downloads">
            {ended.map((pull) => (
              <PullItem key={pull.id} pull={pull} open={props.open} />
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}
