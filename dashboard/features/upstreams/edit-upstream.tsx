import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { UpstreamCreate, UpstreamPut } from '../../../daemon/contract/upstreams.ts';
import { useAct } from '../../api/act.ts';
import { call, ifMatch } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import { issuesOf } from '../../ui/form/draft.ts';
import { useLook } from '../../ui/form/look.ts';
import { RecordForm } from '../../ui/form/record-form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import type { UpstreamDialogProps } from './upstream-dialog.tsx';
import { upstreamBaseline, upstreamRows } from './upstream-rows.ts';

interface Sent {
  body: Record<string, unknown>;
  /** Of the upstream's file, as the form was filled from it. */
  revision?: string | undefined;
}

function useSave(send: (sent: Sent) => Promise<unknown>, onDone: () => void) {
  const client = useQueryClient();
  return useAct({
    send,
    onSuccess: () => {
      for (const id of ['upstreams', 'v1.models'] as const) {
        void client.invalidateQueries({ queryKey: keyOf(id) });
      }
      client.removeQueries({ queryKey: keyOf('upstream') });
    },
    onError: () => void client.invalidateQueries({ queryKey: keyOf('upstream') }),
    onDone,
  });
}

/** Adds an upstream. */
export function NewUpstream(props: { onClose: () => void }): ReactElement {
  const { rows, more } = upstreamRows(true);
  const save = useSave(({ body }) => call('upstream.create', { body }), props.onClose);
  return (
    <Sheet title="A new upstream" onClose={props.onClose}>
      <RecordForm
        rows={rows}
        more={more}
        baseline={{}}
        create
        empty="default"
        check={(body) => issuesOf(UpstreamCreate, body, [...rows, ...more])}
        action="Add the upstream"
        busy={save.isPending}
        error={save.error}
        onSend={(body) => save.mutate({ body })}
      />
    </Sheet>
  );
}

function Form({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  const { rows, more } = upstreamRows(false);
  const save = useSave(({ body, revision }) => {
    const headers = revision === undefined ? {} : ifMatch(revision);
    return call('upstream.put', { params: { name: upstream.name }, headers, body });
  }, onClose);
  const look = useLook(upstream.revision, save.error);
  return (
    <RecordForm
      rows={rows}
      more={more}
      baseline={upstreamBaseline(upstream)}
      create={false}
      empty="default"
      check={(body) => issuesOf(UpstreamPut, body, [...rows, ...more])}
      action="Save"
      look={look}
      busy={save.isPending}
      error={save.error}
      onSend={(body) => save.mutate({ body, revision: look.revision })}
    >
      <p>A new address takes the key variable away unless it is typed again: keys go nowhere by accident.</p>
    </RecordForm>
  );
}

/** Changes an upstream; a new address clears the key variable that is not named with it. */
export function EditUpstream({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  // Read anew for each form: its revision is that of now, not of an earlier form.
  const detail = useQuery({ ...queries.upstream(upstream.name), gcTime: 0 });
  return (
    <Sheet title={`Settings of upstream ${upstream.name}`} onClose={onClose}>
      <Loaded query={detail} what="the settings" lines={8}>
        {(data) => <Form upstream={data} onClose={onClose} />}
      </Loaded>
    </Sheet>
  );
}
