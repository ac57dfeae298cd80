import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { CatalogView, PurposeName } from '../../../daemon/contract/catalog.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { count, gib } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { SearchForm } from '../../ui/search-form.tsx';
import { State } from '../../ui/state-badge.tsx';
import { FitBadge } from './fit-badge.tsx';
import { HubResults } from './hub-results.tsx';
import css from './models.module.css';
import { type Show, useUrlState } from './url-state.ts';

type Entry = CatalogView['entries'][number];
type Open = (show: Show, of: string) => void;

const PURPOSES: readonly { purpose: PurposeName; word: string }[] = [
  { purpose: 'chat', word: 'Chat' },
  { purpose: 'small', word: 'Small fast models' },
  { purpose: 'coding', word: 'Coding' },
  { purpose: 'embedding', word: 'Embeddings' },
  { purpose: 'rerank', word: 'Reranking' },
  { purpose: 'hearing', word: 'Speech to text' },
  { purpose: 'speaking', word: 'Text to speech' },
  { purpose: 'images', word: 'Images' },
];

function Act(props: { entry: Entry; open: Open }): ReactElement {
  const { entry, open } = props;
  const { installed } = entry;
  if (installed !== null) {
    return (
      <>
        <State tone="ok">Installed</State>
        <Button onClick={() => open('details', installed)}>
          Show<span className="hidden-visually"> model {installed}</span>
        </Button>
      </>
    );
  }
  if (!entry.pullable) return <span className={css.soft}>Manual download (ComfyUI or sd-server)</span>;
  return (
    <Button onClick={() => open('pull', entry.model)}>
      Download…<span className="hidden-visually"> {entry.name}</span>
    </Button>
  );
}

function line(entry: Entry): string {
  const window = entry.context_length === null ? null : `${count(entry.context_length)} tokens`;
  return [gib(entry.size_bytes), window, entry.licence].filter(Boolean).join(' · ');
}

function EntryItem(props: { entry: Entry; open: Open }): ReactElement {
  const { entry } = props;
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h4>
          {entry.name}
          <span className={css.sub}>{line(entry)}</span>
        </h4>
        <FitBadge fit={entry.fit} />
      </div>
      <div className={css.foot}>
        <p>{entry.note}</p>
        <div className={css.acts}>
          <Act entry={entry} open={props.open} />
        </div>
      </div>
    </li>
  );
}

function Purposes(props: { catalog: CatalogView; open: Open }): ReactElement {
  const { catalog, open } = props;
  const groups = PURPOSES.map((row) => ({
    ...row,
    entries: catalog.entries.filter(({ purpose }) => purpose === row.purpose),
  })).filter(({ entries }) => entries.length > 0);
  return (
    <>
      {groups.map(({ purpose, word, entries }) => (
        <section key={purpose} aria-label={word}>
          <h3 className={css.group}>{word}</h3>
          <ul className={css.list}>
            {entries.map((entry) => (
              <EntryItem key={entry.model} entry={entry} open={open} />
            ))}
          </ul>
        </section>
      ))}
      <p className={css.remark}>Hand-picked list, {catalog.as_of}. Sizes are approximate.</p>
    </>
  );
}

/** Recommended models by purpose, and a search of the hub. */
export function Catalog(props: { open: Open }): ReactElement {
  const catalog = useQuery(queries.catalog);
  const { q, find } = useUrlState();
  return (
    <Card title={q === '' ? 'Catalogue' : 'Search results'} flush>
      <SearchForm
        label="Search the hub"
        placeholder="Search the hub by name…"
        maxLength={200}
        className={css.search}
        q={q}
        onFind={find}
      />
      {q === '' ? (
        <Loaded query={catalog} what="the catalogue" lines={8}>
          {(data) => <Purposes catalog={data} open={props.open} />}
        </Loaded>
      ) : (
        <HubResults q={q} open={props.open} onBack={() => find('')} />
      )}
    </Card>
  );
}
