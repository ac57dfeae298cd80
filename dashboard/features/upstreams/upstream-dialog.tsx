import type { ComponentType, ReactElement } from 'react';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { Sheet } from '../../ui/sheet.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EditUpstream, NewUpstream } from './edit-upstream.tsx';
import { RemoveUpstream } from './remove-upstream.tsx';
import { SetKey } from './set-key.tsx';
import { TestUpstream } from './test-upstream.tsx';
import type { UpstreamDialogProps } from './upstream-dialog-props.ts';
import { UpstreamModels } from './upstream-models.tsx';
import type { Show } from './url-state.ts';

const DIALOGS: Record<Exclude<Show, 'new'>, ComponentType<UpstreamDialogProps>> = {
  models: UpstreamModels,
  test: TestUpstream,
  edit: EditUpstream,
  key: SetKey,
  remove: RemoveUpstream,
};

/** The open dialog of the upstreams view. */
export function UpstreamDialog(props: {
  show: Show;
  name: string;
  upstreams: readonly UpstreamRecord[] | undefined;
  onClose: () => void;
}): ReactElement {
  const { show, name, onClose } = props;
  if (show === 'new') return <NewUpstream onClose={onClose} />;
  const upstream = props.upstreams?.find((row) => row.name === name);
  const Dialog = DIALOGS[show];
  if (upstream !== undefined) return <Dialog key={`${show} ${name}`} upstream={upstream} onClose={onClose} />;
  return (
    <Sheet title={`Upstream ${name}`} onClose={onClose}>
      {props.upstreams === undefined ? (
        <Skeleton lines={4} what="the upstream" />
      ) : (
        <p>This upstream no longer exists.</p>
      )}
    </Sheet>
  );
}
