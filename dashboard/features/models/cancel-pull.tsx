import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { byteSize } from '../../ui/format.ts';
import { useModelAction } from './use-model-action.ts';

/** Confirms the cancellation of a download and names what is deleted. */
export function CancelPull(props: { id: string; onClose: () => void }): ReactElement {
  const pulls = useQuery(queries.pulls);
  const cancel = useModelAction('pull.cancel', props.onClose);
  const pull = pulls.data?.pulls.find(({ id }) => id === props.id);
  return (
    <Confirm
      open
      title={`Cancel the download of ${pull?.repo ?? 'this model'}?`}
      action="Cancel download"
      danger
      busy={cancel.isPending}
      locked={pull === undefined}
      error={cancel.error}
      onConfirm={() => cancel.mutate({ params: { id: props.id } })}
      onClose={props.onClose}
    >
      {pull === undefined ? (
        <p>This download no longer exists.</p>
      ) : (
        <p>
          {pull.bytes > 0 ? `The ${byteSize(pull.bytes)} downloaded so far will be deleted. ` : ''}To keep
          them and continue later, pause the download instead.
        </p>
      )}
    </Confirm>
  );
}
