import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';

/** Confirms the cancellation of a running request. */
export function Cancel(props: {
  request: RequestRecord;
  /** A quiet button for a row of the list. */
  small?: boolean;
}): ReactElement {
  const client = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const cancel = useAction({
    send: () => call('request.cancel', { params: { id: props.request.id } }),
    onSuccess: () => {
      for (const id of ['requests', 'request'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onDone: () => setIsOpen(false),
  });
  return (
    <>
      <Button
        variant={props.small ? 'quiet' : 'danger'}
        onClick={() => {
          cancel.reset();
          setIsOpen(true);
        }}
      >
        {props.small ? 'Cancel…' : 'Cancel request…'}
      </Button>
      <Confirm
        open={isOpen}
        title="Cancel this request?"
        action="Cancel request"
        danger
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate()}
        onClose={() => setIsOpen(false)}
      >
        <p>
          The client receives no more tokens; the response ends where it is. Tokens used so far are counted.
        </p>
      </Confirm>
    </>
  );
}
