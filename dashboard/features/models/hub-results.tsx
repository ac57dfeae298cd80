import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import type { ReactElement } from 'react';
import type { HubModelView } from '../../../daemon/contract/pulls.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { count } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { State } from '../../ui/state-badge.tsx';
import css from './models.module.css';
import type { Show } from './url-state.ts';

function Result(props: { found: HubModelView; open: (show: Show, of: string) => void }): ReactElement {
  const { found } = props;
  const facts = [
    found.task,
    `${count(found.downloads)} downloads`,
    found.updated === null ? null : `updated ${found.updated.slice(0, 10)}`,
  ];
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h3>
          {found.repo}
          <span className={css.sub}>{facts.filter(Boolean).join(' · ')}</span>
        </h3>
        {found.gated ? <State tone="attention">Gated</State> : null}
      </div>
      <div className={css.foot}>
        <p className={css.soft}>Licence: {found.licence ?? 'unknown'}</p>
        <div className={css.acts}>
          <Button onClick={() => props.open('pull', found.repo)}>
            Download…<span className="hidden-visually"> {found.repo}</span>
          </Button>
        </div>
      </div>
    </li>
  );
}

function Results(props: {
  q: string;
  results: readonly HubModelView[];
  open: (show: Show, of: string) => void;
  back: ReactElement;
}): ReactElement {
  const { results, back } = props;
  if (results.length === 0) {
    return (
      <Empty icon={SearchX} title={`No model on the hub matches “${props.q}”`}>
        <p>Only repositories with runnable files are listed.</p>
        <div>{back}</div>
      </Empty>
    );
  }
  return (
    <>
      <p className="hidden-visually" role="status">
        {results.length} repositories found
      </p>
      <ul className={css.list} aria-label="Found on the hub">
        {results.map((found) => (
          <Result key={found.repo} found={found} open={props.open} />
        ))}
      </ul>
      <div className={css.pad}>
        <div>{back}</div>
      </div>
    </>
  );
}

/** Results of a hub search. */
export function HubResults(props: {
  q: string;
  open: (show: Show, of: string) => void;
  onBack: () => void;
}): ReactElement {
  const search = useQuery(queries.hub(props.q));
  const back = <Button onClick={props.onBack}>Back to the catalogue</Button>;
  return (
    <>
      <Loaded query={search} what="search results" lines={6}>
        {({ results }) => <Results q={props.q} results={results} open={props.open} back={back} />}
      </Loaded>
      {search.data === undefined && search.isError ? (
        <div className={css.pad}>
          <div>{back}</div>
        </div>
      ) : null}
    </>
  );
}
