import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { gib } from '../../ui/format.ts';
import { useModelAct } from './use-model-act.ts';

/** Ends a download and says what is thrown away by that. */
export function CancelPull(props: { id: string; onClose: () => void }): ReactElement {
  const pulls = useQuery(queries.pulls);
  const cancel = useModelAct('pull.cancel', props.onClose);
  const pull = pulls.data?.pulls.find(({ id }) => id === props.id);
  return (
    <Confirm
      open
      title={`Cancel the download of ${pull?.repo ?? 'this model'}?`}
      action="Cancel the download"
      danger
      busy={cancel.isPending}
      locked={pull === undefined}
      error={cancel.error}
      onConfirm={() => cancel.mutate({ params: { id: props.id } })}
      onClose={props.onClose}
    >
      {pull === undefined ? (
        <p>There is no such download any more.</p>
      ) : (
        <p>
          {pull.bytes > 0 ? `The ${gib(pull.bytes)} that came so far are deleted. ` : ''}Pausing it instead
          keeps what came; it then goes on at the same byte.
        </p>
      )}
    </Confirm>
  );
}
