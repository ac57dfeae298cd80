import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { ExposureView } from '../../../daemon/contract/auth.ts';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { HelpLine } from '../../ui/help.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { TERMS } from '../shared/terms.ts';
import { ExposureFilters, type ExposureRow, useFilters } from './exposure-filters.tsx';
import { ExposureTable } from './exposure-table.tsx';
import { type ReachFacts, reachOf } from './reach.ts';
import css from './security.module.css';

function useGuard(): boolean {
  const { data } = useQuery(queries.settings);
  return data?.settings.find((row) => row.name === 'guardRemoteAdmin')?.value !== false;
}

/** Whether a route is open to anyone although its class is not `open`. */
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
        routes work without a key{anyone === 0 ? '' : `: ${anyone} from any machine`}
        {here === 0 ? '' : `, ${anyone === 0 ? '' : `${here} `}from this machine only`}.
      </p>
    </>
  );
}

/** A note on the chat UI, which is not part of the table: it has its own port and sign-in. */
function Companion(): ReactElement | null {
  const { data } = useQuery(queries.urls);
  if (data?.companion_enabled !== true) return null;
  return (
    <p className={css.outside}>
      The companion chat UI is not part of this table. It has its own port, users and stored conversations,
      and uses the models with the client key. If its sign-in is off (<code>WEBUI_AUTH=False</code>), anyone
      who reaches its port can use the models and read the conversations.{' '}
      {data.companion === null ? (
        'It is not responding at your address.'
      ) : (
        <a href={data.companion} rel="noreferrer">
          Open companion
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
    <Card title="API access" flush>
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

/** All routes with their class, and which of them work without a key right now. */
export function Exposure(): ReactElement {
  const exposure = useQuery(queries.exposure);
  return (
    <>
      <HelpLine term={TERMS.exposure} />
      <Loaded query={exposure} what="the routes" lines={8}>
        {(data) => <Whole exposure={data} />}
      </Loaded>
    </>
  );
}
