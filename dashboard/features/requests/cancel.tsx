import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { useAct } from '../../api/act.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';

/** Ends a running request of somebody, after saying what that means. */
export function Cancel(props: { request: RequestRecord }): ReactElement {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const cancel = useAct({
    send: () => call('request.cancel', { params: { id: props.request.id } }),
    onSuccess: () => {
      for (const id of ['requests', 'request'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onDone: () => setAsking(false),
  });
  return (
    <>
      <Button
        look="danger"
        onClick={() => {
          cancel.reset();
          setAsking(true);
        }}
      >
        Cancel the request…
      </Button>
      <Confirm
        open={asking}
        title="Cancel this request?"
        action="Cancel the request"
        danger
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate()}
        onClose={() => setAsking(false)}
      >
        <p>
          Whoever asked gets no further token: the answer ends where it is. What was used so far is counted.
        </p>
      </Confirm>
    </>
  );
}
