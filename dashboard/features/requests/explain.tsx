import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useId, useState } from 'react';
import { useSearchParams } from 'wouter';
import { routeRows } from '../../../daemon/contract/routes.ts';
import { call } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { Skeleton } from '../../ui/skeleton.tsx';
import css from './requests.module.css';
import { Resolution } from './resolution.tsx';

const PATHS = routeRows()
  .filter(({ kind, method }) => kind === 'inference' && method === 'POST')
  .map(({ path, summary }) => ({ path, summary }));
const [FIRST] = PATHS;

interface Asked {
  path: string;
  model: string;
}

/** What the fields can hold of it: an address may name a path that nobody asks. */
const offered = (asked: Asked): Asked =>
  PATHS.some(({ path }) => path === asked.path) ? asked : { ...asked, path: FIRST?.path ?? '' };

/** The fields follow what was asked, also when that comes from the address; they keep the focus meanwhile. */
function Form(props: { busy: boolean; onAsk: (asked: Asked) => void; asked: Asked }): ReactElement {
  const id = useId();
  const { path, model } = props.asked;
  const [draft, setDraft] = useState(offered(props.asked));
  const [shown, setShown] = useState(props.asked);
  if (shown.path !== path || shown.model !== model) {
    setShown(props.asked);
    setDraft(offered(props.asked));
  }
  const { data: models } = useQuery(queries.models);
  return (
    <form
      className={css.explain}
      onSubmit={(event) => {
        event.preventDefault();
        props.onAsk({ ...draft, model: draft.model.trim() });
      }}
    >
      <div className={field.field}>
        <label className={field.label} htmlFor={`${id}-path`}>
          What is asked for
        </label>
        <select
          id={`${id}-path`}
          className={field.input}
          value={draft.path}
          onChange={(event) => setDraft({ ...draft, path: event.target.value })}
        >
          {PATHS.map(({ path, summary }) => (
            <option key={path} value={path}>
              {path} — {summary}
            </option>
          ))}
        </select>
      </div>
      <div className={field.field}>
        <label className={field.label} htmlFor={`${id}-model`}>
          Model
        </label>
        <input
          id={`${id}-model`}
          className={field.input}
          list={`${id}-models`}
          placeholder="none named"
          autoComplete="off"
          spellCheck={false}
          value={draft.model}
          onChange={(event) => setDraft({ ...draft, model: event.target.value })}
        />
        <datalist id={`${id}-models`}>
          {models?.data.map((model) => (
            <option key={model.id} value={model.id} />
          ))}
        </datalist>
      </div>
      <Button type="submit" look="main" busy={props.busy}>
        Explain
      </Button>
    </form>
  );
}

/** Where a request would go that was not sent yet; nothing is sent and nothing is loaded. */
export function Explain(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const asked = { path: search.get('path') ?? FIRST?.path ?? '', model: search.get('model') ?? '' };
  const explain = useMutation({
    mutationFn: ({ path, model }: Asked) =>
      call('dispatch.explain', { body: { path, ...(model === '' ? {} : { model }) } }),
  });
  const { mutate } = explain;
  const given = search.has('path');
  const { path, model } = asked;
  useEffect(() => {
    if (given) mutate({ path, model });
  }, [given, path, model, mutate]);
  const onAsk = (next: Asked): void => {
    if (given && next.path === path && next.model === model) mutate(next);
    else setSearch({ path: next.path, ...(next.model === '' ? {} : { model: next.model }) });
  };
  return (
    <Card title="Where would it go?">
      <p className={css.soft}>
        Nothing is sent and nothing is loaded: the decision is replayed with the state of now.
      </p>
      <Form busy={explain.isPending} asked={asked} onAsk={onAsk} />
      <div className={css.part} aria-live="polite">
        {explain.isPending ? <Skeleton lines={5} what="the steps" /> : null}
        {explain.error === null ? null : <Failure error={explain.error} />}
        {explain.data === undefined || explain.isPending ? null : <Resolution explained={explain.data} />}
      </div>
    </Card>
  );
}
