import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import type { ExposureRuleView, ExposureView } from '../../../daemon/contract/auth.ts';
import field from '../../ui/field.module.css';
import strip from '../../ui/filters.module.css';
import tabs from '../../ui/tabs.module.css';
import type { Reach } from './reach.ts';
import css from './security.module.css';

/** Filters of the table. They are part of the URL, so that a reload preserves them. */
export interface Filters {
  q: string;
  class: string;
  reach: string;
}
export type ExposureRow = ExposureRuleView & { reach: Reach };

/** Value for "no class selected": the toggle group ignores an empty one. */
const ALL = 'all';

/** The filters of the URL, with a function to change them. */
export function useFilters(): [Filters, (change: Partial<Filters>) => void] {
  const [search, setSearch] = useSearchParams();
  const filters = {
    q: search.get('q') ?? '',
    class: search.get('class') ?? '',
    reach: search.get('reach') ?? '',
  };
  const change = (part: Partial<Filters>): void => {
    const params = Object.entries({ ...filters, ...part }).filter(([, value]) => value !== '');
    setSearch(Object.fromEntries(params), { replace: true });
  };
  return [filters, change];
}

/** Filters by text, class and anonymous access. */
export function ExposureFilters(props: {
  filters: Filters;
  onChange: (change: Partial<Filters>) => void;
  classes: ExposureView['classes'];
  rows: readonly ExposureRow[];
}): ReactElement {
  const { filters, onChange } = props;
  const many = (name: string): number => props.rows.filter((row) => row.auth_class === name).length;
  return (
    <div className={`${strip.filters} ${strip.inset}`}>
      <input
        type="search"
        className={field.input}
        aria-label="Search routes"
        placeholder="Search path or summary"
        value={filters.q}
        onChange={(event) => onChange({ q: event.target.value })}
      />
      <ToggleGroup
        className={tabs.list}
        aria-label="Class"
        value={[filters.class || ALL]}
        onValueChange={([next]) => onChange({ class: next === undefined || next === ALL ? '' : next })}
      >
        <Toggle className={tabs.tab} value={ALL}>
          All
        </Toggle>
        {props.classes.map((row) => (
          <Toggle key={row.name} className={tabs.tab} value={row.name} title={row.meaning}>
            {row.name} <span className={css.count}>{many(row.name)}</span>
          </Toggle>
        ))}
      </ToggleGroup>
      <Toggle
        className={`${tabs.tab} ${strip.only}`}
        pressed={filters.reach === 'anonymous'}
        onPressedChange={(on) => onChange({ reach: on ? 'anonymous' : '' })}
      >
        No key needed
      </Toggle>
    </div>
  );
}
