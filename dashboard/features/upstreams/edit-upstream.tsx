import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { UpstreamCreate, UpstreamPut } from '../../../daemon/contract/upstreams.ts';
import { useAction } from '../../api/action.ts';
import { call, ifMatch } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import { issuesOf } from '../../ui/form/draft.ts';
import { useEditBase } from '../../ui/form/edit-base.ts';
import { RecordForm } from '../../ui/form/record-form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import type { UpstreamDialogProps } from './upstream-dialog-props.ts';
import { upstreamBaseline, upstreamRows } from './upstream-rows.ts';

interface Sent {
  body: Record<string, unknown>;
  /** Revision of the upstream file that the form was filled from. */
  revision?: string | undefined;
}

function useSave(send: (sent: Sent) => Promise<unknown>, onDone: () => void) {
  const client = useQueryClient();
  return useAction({
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
    <Sheet title="New upstream" onClose={props.onClose}>
      <RecordForm
        rows={rows}
        more={more}
        baseline={{}}
        create
        empty="default"
        check={(body) => issuesOf(UpstreamCreate, body, [...rows, ...more])}
        action="Add upstream"
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
  const editBase = useEditBase(upstream.revision, save.error);
  return (
    <RecordForm
      rows={rows}
      more={more}
      baseline={upstreamBaseline(upstream)}
      create={false}
      empty="default"
      check={(body) => issuesOf(UpstreamPut, body, [...rows, ...more])}
      action="Save"
      editBase={editBase}
      busy={save.isPending}
      error={save.error}
      onSend={(body) => save.mutate({ body, revision: editBase.revision })}
    >
      <p>
        Changing the address clears the key, so it is never sent to the wrong server. Enter it again to keep
        it.
      </p>
    </RecordForm>
  );
}

/** Edits an upstream. A new address clears the key variable unless it is entered again. */
export function EditUpstream({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  // Not cached: each form starts from the current revision.
  const detail = useQuery({ ...queries.upstream(upstream.name), gcTime: 0 });
  return (
    <Sheet title={`Settings of upstream ${upstream.name}`} onClose={onClose}>
      <Loaded query={detail} what="the settings" lines={8}>
        {(data) => <Form upstream={data} onClose={onClose} />}
      </Loaded>
    </Sheet>
  );
}
