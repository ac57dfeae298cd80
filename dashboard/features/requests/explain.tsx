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
import { HelpMark } from '../../ui/help.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TERMS } from '../shared/terms.ts';
import css from './requests.module.css';
import { Resolution } from './resolution.tsx';

const PATHS = routeRows()
  .filter(({ kind, method }) => kind === 'inference' && method === 'POST')
  .map(({ path, summary }) => ({ path, summary }));
const [FIRST] = PATHS;

interface Query {
  path: string;
  model: string;
}

/** Replaces a path that is not offered: the URL may contain any path. */
const offered = (query: Query): Query =>
  PATHS.some(({ path }) => path === query.path) ? query : { ...query, path: FIRST?.path ?? '' };

/** The form follows the query of the URL and keeps the focus. */
function Form(props: { busy: boolean; onExplain: (query: Query) => void; query: Query }): ReactElement {
  const id = useId();
  const { path, model } = props.query;
  const [draft, setDraft] = useState(offered(props.query));
  const [shown, setShown] = useState(props.query);
  if (shown.path !== path || shown.model !== model) {
    setShown(props.query);
    setDraft(offered(props.query));
  }
  const { data: models } = useQuery(queries.models);
  return (
    <form
      className={css.explain}
      onSubmit={(event) => {
        event.preventDefault();
        props.onExplain({ ...draft, model: draft.model.trim() });
      }}
    >
      <div className={field.field}>
        <label className={field.label} htmlFor={`${id}-path`}>
          Endpoint
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
          placeholder="none"
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
      <Button type="submit" variant="main" busy={props.busy}>
        Explain routing
      </Button>
    </form>
  );
}

/** A dry run of routing: sends no request and loads no model. */
export function Explain(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const query = { path: search.get('path') ?? FIRST?.path ?? '', model: search.get('model') ?? '' };
  const explain = useMutation({
    mutationFn: ({ path, model }: Query) =>
      call('dispatch.explain', { body: { path, ...(model === '' ? {} : { model }) } }),
  });
  const { mutate } = explain;
  const hasQuery = search.has('path');
  const { path, model } = query;
  useEffect(() => {
    if (hasQuery) mutate({ path, model });
  }, [hasQuery, path, model, mutate]);
  const onExplain = (next: Query): void => {
    if (hasQuery && next.path === path && next.model === model) mutate(next);
    else setSearch({ path: next.path, ...(next.model === '' ? {} : { model: next.model }) });
  };
  return (
    <Card title="Routing dry run" help={<HelpMark term={TERMS.upstream} />}>
      <p className={css.soft}>
        Where would this request go? A dry run against the current state: nothing is sent and nothing is
        loaded.
      </p>
      <Form busy={explain.isPending} query={query} onExplain={onExplain} />
      <div className={css.part} aria-live="polite">
        {explain.isPending ? <Skeleton lines={5} what="the steps" /> : null}
        {explain.error === null ? null : <Failure error={explain.error} />}
        {explain.data === undefined || explain.isPending ? null : <Resolution explained={explain.data} />}
      </div>
    </Card>
  );
}
