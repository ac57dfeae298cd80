import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { CatalogView } from '../../../daemon/contract/catalog.ts';
import type { HubModelView } from '../../../daemon/contract/pulls.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CheckBox } from '../../ui/check-box.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import { byteSize } from '../../ui/format.ts';
import { TextInput } from '../../ui/inputs.tsx';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { FitBadge } from './fit-badge.tsx';
import { licenceWords } from './licence.ts';
import css from './models.module.css';
import { PullChoices } from './pull-choices.tsx';
import { useUrlState } from './url-state.ts';
import { useModelAction } from './use-model-action.ts';

type Known = CatalogView['entries'][number];

/** Metadata of a model before the download, from the catalogue or the search result. */
function useModelEntry(model: string): { entry: Known | undefined; found: HubModelView | undefined } {
  const { q } = useUrlState();
  const catalog = useQuery(queries.catalog);
  const search = useQuery({ ...queries.hub(q), enabled: q !== '' });
  const repo = model.split(':')[0];
  return {
    entry: catalog.data?.entries.find((each) => each.model === model),
    found: search.data?.results.find((each) => each.repo === repo),
  };
}

function Licence(props: { licence: string | null; gated: boolean }): ReactElement {
  const { name, text } = licenceWords(props.licence);
  return (
    <Note tone={props.licence === null ? 'attention' : 'idle'}>
      <p>
        <b>Licence: {name}.</b> {text}
      </p>
      {props.gated ? (
        <p>
          Gated model: accept its terms on Hugging Face and set <code>HF_TOKEN</code> in <code>api.env</code>.
        </p>
      ) : null}
    </Note>
  );
}

/** Confirms the download of a model; shows its licence and size first. */
export function PullDialog(props: { model: string; onClose: () => void }): ReactElement {
  const { model, onClose } = props;
  const { entry, found } = useModelEntry(model);
  const named = model.includes(':');
  const [which, setWhich] = useState('');
  const [selected, setSelected] = useState<string | null>(null);
  const [anyway, setAnyway] = useState(false);
  const isListed = !named && entry === undefined;
  const choices = useQuery({ ...queries.choices(model), enabled: isListed });
  const chosen = selected ?? choices.data?.choices.find(({ preferred }) => preferred)?.model ?? null;
  const objection = choices.data?.objection ?? null;
  const [projector, setProjector] = useState(false);
  const pull = useModelAction('model.pull', onClose);
  const typed = named || which.trim() === '' ? model : `${model}:${which.trim()}`;
  const body = {
    model: chosen ?? typed,
    ...(projector ? { projector } : {}),
    ...(anyway ? { allow_unsupported: true } : {}),
  };
  const chat = entry === undefined || entry.type === 'llm';
  return (
    <Sheet title={`Download ${entry?.name ?? model}`} onClose={onClose}>
      <Facts
        rows={[
          ['From', <code key="from">{model}</code>],
          ['Size', entry === undefined ? null : `about ${byteSize(entry.size_bytes)}`],
          ['Fit', entry === undefined ? null : <FitBadge key="fit" fit={entry.fit} />],
          ['Updated', found?.updated?.slice(0, 10) ?? null],
        ]}
      />
      <Licence licence={entry?.licence ?? found?.licence ?? null} gated={found?.gated ?? false} />
      {isListed && choices.isPending ? <Skeleton lines={4} what="the files" /> : null}
      {choices.data === undefined || chosen === null ? null : (
        <PullChoices view={choices.data} selected={chosen} onSelect={setSelected} />
      )}
      {objection === null ? null : (
        <Note tone="attention">
          <p>{objection}</p>
          <CheckBox on={anyway} onChange={setAnyway}>
            Download anyway, for a llama-server of my own
          </CheckBox>
        </Note>
      )}
      {isListed && (choices.isError || (choices.data !== undefined && chosen === null)) ? (
        <TextInput
          label="Quantisation or file"
          help="Leave empty to use the one with the best quality for its size."
          exact
          placeholder="Q4_K_M"
          value={which}
          onChange={setWhich}
        />
      ) : null}
      {chat ? (
        <CheckBox on={projector} onChange={setProjector}>
          Include vision support if available <span className={css.soft}>(llama-server only)</span>
        </CheckBox>
      ) : null}
      {pull.error === null ? null : <Failure error={pull.error} />}
      <div className={dialog.actions}>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="main"
          busy={pull.isPending}
          disabled={objection !== null && !anyway}
          onClick={() => pull.mutate({ body })}
        >
          {pull.isPending ? 'Contacting the hub…' : 'Download'}
        </Button>
      </div>
    </Sheet>
  );
}
