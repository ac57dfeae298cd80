import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { useQuery } from '@tanstack/react-query';
import { Activity, SearchX } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { call } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import field from '../../ui/field.module.css';
import filters from '../../ui/filters.module.css';
import { HelpMark } from '../../ui/help.tsx';
import { OlderRows } from '../../ui/load-older.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import tabs from '../../ui/tabs.module.css';
import { usePagedRows } from '../../ui/use-paged-rows.ts';
import { TERMS } from '../shared/terms.ts';
import { withRefused } from './caller-words.ts';
import { matches, type RequestFilter } from './request-badge.ts';
import { RequestDetails } from './request-details.tsx';
import { RequestTable } from './request-table.tsx';

const PAGE = 200;
const ALL = 'all';
const ONLY = [
  { id: ALL, word: 'All' },
  { id: 'running', word: 'Running' },
  { id: 'failed', word: 'Failed' },
  { id: 'refused', word: 'Refused' },
] as const;

/** Filter and open request of the URL. Changing the filter replaces the history entry. */
function useUrlState() {
  const [search, setSearch] = useSearchParams();
  const filter: RequestFilter = { q: search.get('q') ?? '', only: search.get('only') ?? '' };
  const id = search.get('id');
  const go = (next: RequestFilter & { id: string | null }, replace: boolean): void => {
    const params = Object.entries(next).filter((entry): entry is [string, string] => Boolean(entry[1]));
    setSearch(Object.fromEntries(params), { replace });
  };
  return {
    filter,
    id,
    setFilter: (part: Partial<RequestFilter>) => go({ ...filter, ...part, id }, true),
    open: (next: string) => go({ ...filter, id: next }, false),
    close: () => go({ ...filter, id: null }, false),
  };
}

const idOf = ({ id }: RequestRecord): string => id;
const readOlder = (before: string): Promise<RequestRecord[]> =>
  call('requests', { query: { before, limit: String(PAGE) } }).then(({ recent }) => recent);

function Filters(props: {
  filter: RequestFilter;
  onChange: (part: Partial<RequestFilter>) => void;
}): ReactElement {
  return (
    <div className={`${filters.filters} ${filters.inset}`}>
      <input
        type="search"
        className={field.input}
        aria-label="Filter requests"
        placeholder="Model, route, app, slot, status, id…"
        value={props.filter.q}
        onChange={(event) => props.onChange({ q: event.target.value })}
      />
      <ToggleGroup
        className={tabs.list}
        aria-label="Which requests"
        value={[props.filter.only || ALL]}
        onValueChange={([next]) => props.onChange({ only: next === undefined || next === ALL ? '' : next })}
      >
        {ONLY.map((row) => (
          <Toggle key={row.id} className={tabs.tab} value={row.id}>
            {row.word}
          </Toggle>
        ))}
      </ToggleGroup>
    </div>
  );
}

function Nothing(props: { filtered: boolean; onReset: () => void }): ReactElement {
  if (props.filtered) {
    return (
      <Empty icon={SearchX} title="No requests match">
        <Button onClick={props.onReset}>Show all requests</Button>
      </Empty>
    );
  }
  return (
    <Empty icon={Activity} title="No requests yet">
      <p>Requests to models appear here, without their content.</p>
      <div>
        <Link className={buttonClass('main')} href="/playground">
          Open playground
        </Link>
      </div>
    </Empty>
  );
}

/** Running and finished requests, live. */
export function RequestLog(): ReactElement {
  const requests = useQuery(queries.requests);
  const { filter, id, setFilter, open, close } = useUrlState();
  const ended = usePagedRows({ newest: requests.data?.recent, page: PAGE, idOf, read: readOlder });
  const filtered = filter.q !== '' || filter.only !== '';
  return (
    <>
      <Card title="Running and recent" help={<HelpMark term={TERMS.slot} />} flush>
        <Filters filter={filter} onChange={setFilter} />
        <Loaded query={requests} what="requests" lines={8}>
          {(data) => {
            const known = new Set(ended.rows.map(idOf));
            const running = data.running.filter((row) => !known.has(row.id));
            const all = [...running, ...withRefused(ended.rows, data.refused)];
            const rows = all.filter((row) => matches(row, filter));
            return (
              <>
                <p className="hidden-visually" role="status">
                  {rows.length} requests shown
                </p>
                {rows.length === 0 ? (
                  <Nothing filtered={filtered} onReset={() => setFilter({ q: '', only: '' })} />
                ) : (
                  <RequestTable rows={rows} open={open} />
                )}
                <OlderRows of={ended.older} />
              </>
            );
          }}
        </Loaded>
      </Card>
      {id === null ? null : <RequestDetails id={id} onClose={close} />}
    </>
  );
}
