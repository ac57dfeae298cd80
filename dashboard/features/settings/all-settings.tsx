import { Toggle } from '@base-ui/react/toggle';
import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { queries } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import field from '../../ui/field.module.css';
import filters from '../../ui/filters.module.css';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import tabs from '../../ui/tabs.module.css';
import { EditSetting } from './edit-setting.tsx';
import { SettingLine } from './setting-line.tsx';
import { byTable, showsSetting } from './setting-words.ts';
import css from './settings.module.css';

interface Place {
  q: string;
  only: string;
  edit: string;
}

function useUrlState() {
  const [search, setSearch] = useSearchParams();
  const place: Place = {
    q: search.get('q') ?? '',
    only: search.get('only') ?? '',
    edit: search.get('edit') ?? '',
  };
  const go = (part: Partial<Place>, replace: boolean): void => {
    const params = Object.entries({ ...place, ...part }).filter(([, value]) => value !== '');
    setSearch(Object.fromEntries(params), { replace });
  };
  return { place, go };
}

function Problems(props: { problems: Responses['settings']['problems'] }): ReactElement | null {
  if (props.problems.length === 0) return null;
  return (
    <Note tone="attention">
      <p>
        <b>Some configuration files have errors:</b>
      </p>
      <ul className={css.problems} aria-label="Configuration errors">
        {props.problems.map(({ file, line, message }) => (
          <li key={`${file} ${line} ${message}`}>
            <code>
              {file}
              {line === null ? '' : `, line ${line}`}
            </code>
            {': '}
            {message}
          </li>
        ))}
      </ul>
    </Note>
  );
}

function Whole(props: { data: Responses['settings'] }): ReactElement {
  const { settings, problems, revision } = props.data;
  const { place, go } = useUrlState();
  const shown = settings.filter((row) => showsSetting(row, place.q, place.only === 'changed'));
  const edited = settings.find(({ name }) => name === place.edit);
  return (
    <>
      <Problems problems={problems} />
      <div className={filters.filters}>
        <input
          type="search"
          className={field.input}
          aria-label="Search settings"
          placeholder="Search name or description"
          value={place.q}
          onChange={(event) => go({ q: event.target.value }, true)}
        />
        <Toggle
          className={`${tabs.tab} ${filters.only}`}
          pressed={place.only === 'changed'}
          onPressedChange={(on) => go({ only: on ? 'changed' : '' }, true)}
        >
          Changed only
        </Toggle>
      </div>
      <p className="hidden-visually" role="status">
        {shown.length} settings shown
      </p>
      {shown.length === 0 ? (
        <Empty icon={SearchX} title="No settings match">
          <Button onClick={() => go({ q: '', only: '' }, true)}>Show all settings</Button>
        </Empty>
      ) : null}
      {byTable(shown).map(({ title, rows }) => (
        <Card key={title} title={title} flush>
          <ul>
            {rows.map((row) => (
              <SettingLine key={row.name} row={row} onEdit={() => go({ edit: row.name }, false)} />
            ))}
          </ul>
        </Card>
      ))}
      {edited === undefined ? null : (
        <EditSetting
          key={edited.name}
          row={edited}
          revision={revision}
          onClose={() => go({ edit: '' }, false)}
        />
      )}
    </>
  );
}

/** All settings with value and source, and errors of the configuration files. */
export function AllSettings(): ReactElement {
  const settings = useQuery(queries.settings);
  return (
    <Loaded query={settings} what="settings" lines={10}>
      {(data) => <Whole data={data} />}
    </Loaded>
  );
}
