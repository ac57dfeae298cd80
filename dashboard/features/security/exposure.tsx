import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { ExposureView } from '../../../daemon/contract/auth.ts';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { ExposureFilters, type ExposureRow, useFilters } from './exposure-filters.tsx';
import { ExposureTable } from './exposure-table.tsx';
import { type ReachFacts, reachOf } from './reach.ts';
import css from './security.module.css';

function useGuard(): boolean {
  const { data } = useQuery(queries.settings);
  return data?.settings.find((row) => row.name === 'guardRemoteAdmin')?.value !== false;
}

/** Open to anyone although its class is not open. */
function isWide(row: ExposureRow): boolean {
  return row.reach === 'everyone' && row.auth_class !== 'open';
}

function Sentence(props: { rows: readonly ExposureRow[] }): ReactElement {
  const { rows } = props;
  const anyone = rows.filter((row) => row.reach === 'everyone').length;
  const here = rows.filter((row) => row.reach === 'this machine').length;
  return (
    <>
      <Badge tone={rows.some(isWide) ? 'attention' : 'idle'}>
        {anyone + here} of {rows.length}
      </Badge>
      <p>
        routes answer without a key right now:{' '}
        {anyone === 0 ? 'none of them to other machines' : `${anyone} to anyone who reaches the gateway`}
        {here === 0 ? '' : `, ${here} to this machine alone`}.
      </p>
    </>
  );
}

/** What no row of the table speaks of: the chat UI has a port and a sign-in of its own. */
function Companion(): ReactElement | null {
  const { data } = useQuery(queries.urls);
  if (data?.companion_enabled !== true) return null;
  return (
    <p className={css.outside}>
      The companion chat UI stands outside of this table: it has a port and a sign-in of its own, and uses the
      models for whoever may use it.{' '}
      {data.companion === null ? (
        'It does not answer at an address of yours now.'
      ) : (
        <a href={data.companion} rel="noreferrer">
          Open it
        </a>
      )}
    </p>
  );
}

function Whole(props: { exposure: ExposureView }): ReactElement {
  const { exposure } = props;
  const guard = useGuard();
  const { data: auth } = useQuery(queries.auth);
  const [filters, setFilters] = useFilters();
  const facts: ReachFacts = { ...exposure, hasAdminKey: auth?.has_admin_key ?? true, guard };
  const rows = exposure.rules.map((rule) => ({ ...rule, reach: reachOf(rule, facts) }));
  return (
    <Card title="Routes and their classes" flush>
      <div className={css.sentence}>
        <Sentence rows={rows} />
      </div>
      <Companion />
      <ExposureFilters filters={filters} onChange={setFilters} classes={exposure.classes} rows={rows} />
      <ExposureTable
        rows={rows}
        filters={filters}
        onReset={() => setFilters({ q: '', class: '', reach: '' })}
      />
    </Card>
  );
}

/** Every route with its class, and what anonymous callers reach right now. */
export function Exposure(): ReactElement {
  const exposure = useQuery(queries.exposure);
  return (
    <Loaded query={exposure} what="the routes" lines={8}>
      {(data) => <Whole exposure={data} />}
    </Loaded>
  );
}
