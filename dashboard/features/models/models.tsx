import { useQuery } from '@tanstack/react-query';
import { FolderPlus, RefreshCw } from 'lucide-react';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { MODEL_TABS } from '../../app/views.ts';
import { Button } from '../../ui/button.tsx';
import columns from '../../ui/columns.module.css';
import { Failure } from '../../ui/failure.tsx';
import { useWide } from '../../ui/use-min-width.ts';
import { ViewHead } from '../../ui/view-head.tsx';
import { ViewTabs } from '../../ui/view-tabs.tsx';
import { AgentOffer } from '../shared/agent-offer.tsx';
import { LoadSlot } from '../slots/load-slot.tsx';
import { CancelPull } from './cancel-pull.tsx';
import { Catalog } from './catalog.tsx';
import { CatalogUpdate } from './catalog-update.tsx';
import { Details } from './details.tsx';
import { holderOf } from './holder.ts';
import { Installed, UnusableFiles } from './installed.tsx';
import { Names } from './names.tsx';
import { PullDialog } from './pull-dialog.tsx';
import { Pulls } from './pulls.tsx';
import { Register } from './register.tsx';
import { RemoveModel } from './remove-model.tsx';
import { Scanned } from './scan-result.tsx';
import { type OpenDialog, type Show, useUrlState } from './url-state.ts';
import { useModelAction } from './use-model-action.ts';

/** Minimum width for both lists side by side; below it each list has a tab. */
const SIDE_BY_SIDE = 1080;

/** Dialogs that need the record of a model. Renders nothing while it is loading or after it was removed. */
function OverModel(props: { place: OpenDialog; onClose: () => void }): ReactElement | null {
  const { place, onClose } = props;
  const models = useQuery(queries.registry);
  const slots = useQuery(queries.slots);
  const model = models.data?.models.find(({ id }) => id === place.of);
  if (model === undefined) return null;
  if (place.show === 'remove') return <RemoveModel key={model.id} model={model} onClose={onClose} />;
  const slot = holderOf(model, slots.data?.slots ?? []);
  return slot === undefined ? null : <LoadSlot slot={slot} onClose={onClose} />;
}

/** Renders nothing while the catalogue is loading. */
function UpdateDialog(props: { onClose: () => void }): ReactElement | null {
  const { data } = useQuery(queries.catalog);
  if (data === undefined) return null;
  return <CatalogUpdate asOf={data.as_of} updated={data.updated} onClose={props.onClose} />;
}

function Over(props: {
  place: OpenDialog;
  open: (show: Show, of: string) => void;
  onClose: () => void;
}): ReactElement {
  const { place, open, onClose } = props;
  if (place.show === 'register') return <Register onClose={onClose} onDone={(id) => open('details', id)} />;
  if (place.show === 'pull') return <PullDialog key={place.of} model={place.of} onClose={onClose} />;
  if (place.show === 'catalog') return <UpdateDialog onClose={onClose} />;
  if (place.show === 'cancel') return <CancelPull id={place.of} onClose={onClose} />;
  if (place.show === 'details') return <Details id={place.of} open={open} onClose={onClose} />;
  return <OverModel place={place} onClose={onClose} />;
}

/** Installed models, the catalogue and running downloads. */
export function Models(props: { tab: string }): ReactElement {
  const tab = MODEL_TABS.find(({ id }) => id === props.tab);
  useTitle(tab?.word ?? 'Not found');
  const wide = useWide(SIDE_BY_SIDE);
  const { place, open, close } = useUrlState();
  const scan = useModelAction('model.scan');
  if (tab === undefined) return <NotFound />;
  return (
    <>
      <ViewHead title="Models">
        <Button onClick={() => open('register')}>
          <FolderPlus size={16} aria-hidden="true" /> Add from disk…
        </Button>
        <Button busy={scan.isPending} onClick={() => scan.mutate({})}>
          <RefreshCw size={16} aria-hidden="true" /> {scan.isPending ? 'Scanning…' : 'Rescan folders'}
        </Button>
      </ViewHead>
      {scan.error === null ? null : <Failure error={scan.error} />}
      {scan.data === undefined ? null : <Scanned outcome={scan.data} />}
      <AgentOffer />
      <Pulls open={open} />
      {wide ? null : <ViewTabs base="/models" label="Models" tabs={MODEL_TABS} current={tab.id} />}
      <div className={wide ? columns.even : columns.column}>
        {wide || tab.id === 'installed' ? (
          <div className={columns.column}>
            <Installed open={open} />
            <UnusableFiles />
            <Names />
          </div>
        ) : null}
        {wide || tab.id === 'catalog' ? <Catalog open={open} /> : null}
      </div>
      {place === null ? null : <Over place={place} open={open} onClose={close} />}
    </>
  );
}
