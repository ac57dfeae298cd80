import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { CatalogView } from '../../../daemon/contract/catalog.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { byteSize, count } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { SearchForm } from '../../ui/search-form.tsx';
import { State } from '../../ui/state-badge.tsx';
import { catalogGroups, memoryKinds, PURPOSE_WORDS, unverifiedWords } from './catalog-groups.ts';
import { FitBadge } from './fit-badge.tsx';
import { HubResults } from './hub-results.tsx';
import css from './models.module.css';
import { type Show, useUrlState } from './url-state.ts';

type Entry = CatalogView['entries'][number];
type Open = (show: Show, of?: string) => void;

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
  const purpose = entry.type === 'llm' ? PURPOSE_WORDS[entry.purpose] : null;
  const vision = entry.vision !== null && entry.purpose !== 'vision' ? 'vision' : null;
  const engine = entry.engine === 'embedded' ? null : `needs ${entry.engine}`;
  return [purpose, byteSize(entry.size_bytes), window, vision, ...memoryKinds(entry), entry.licence, engine]
    .filter(Boolean)
    .join(' · ');
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
        {entry.objection === null ? <FitBadge fit={entry.fit} /> : <State tone="idle">Not supported</State>}
      </div>
      <div className={css.foot}>
        <p>
          {entry.quick_start ? 'Quick start, not a recommendation: ' : ''}
          {entry.note} {entry.objection} {unverifiedWords(entry)}
        </p>
        <div className={css.acts}>
          <Act entry={entry} open={props.open} />
        </div>
      </div>
    </li>
  );
}

function Groups(props: { catalog: CatalogView; open: Open }): ReactElement {
  const { catalog, open } = props;
  return (
    <>
      {catalogGroups(catalog.entries).map(({ word, entries }) => (
        <section key={word} aria-label={word}>
          <h3 className={css.group}>{word}</h3>
          <ul className={css.list}>
            {entries.map((entry) => (
              <EntryItem key={entry.model} entry={entry} open={open} />
            ))}
          </ul>
        </section>
      ))}
      <div className={css.remark}>
        <p>
          {catalog.updated ? 'List that you loaded' : 'Hand-picked list'}, {catalog.as_of}. The hub corrects
          sizes and licences at the download.
        </p>
        <Button onClick={() => open('catalog')}>Load a newer catalogue…</Button>
      </div>
    </>
  );
}

/** Recommended models by memory and purpose, and a search of the hub. */
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
          {(data) => <Groups catalog={data} open={props.open} />}
        </Loaded>
      ) : (
        <HubResults q={q} open={props.open} onBack={() => find('')} />
      )}
    </Card>
  );
}
