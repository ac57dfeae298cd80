import type { ReactElement } from 'react';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { count, timeOfDay } from '../../ui/format.ts';
import { State } from '../../ui/state-badge.tsx';
import type { Show } from './place.ts';
import { HEALTH } from './upstream-looks.ts';
import css from './upstreams.module.css';

const ACTS: readonly { show: Show; word: string }[] = [
  { show: 'models', word: 'Models' },
  { show: 'test', word: 'Test' },
  { show: 'edit', word: 'Edit…' },
  { show: 'remove', word: 'Remove…' },
];

function key(upstream: UpstreamRecord): string | null {
  if (upstream.key_env === undefined) return null;
  if (upstream.key_env === null) return 'none';
  return `${upstream.key_env}${upstream.key_set ? '' : ', which has no value'}`;
}

function today(upstream: UpstreamRecord): string | null {
  if (upstream.requests_today === undefined) return null;
  const most = upstream.daily_requests == null ? '' : ` of ${count(upstream.daily_requests)}`;
  return `${count(upstream.requests_today)}${most}`;
}

/** One upstream: where it is, how it is, what it serves. */
export function UpstreamItem(props: {
  upstream: UpstreamRecord;
  open: (show: Show, name: string) => void;
}): ReactElement {
  const { upstream } = props;
  const look = HEALTH[upstream.health];
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h3>{upstream.name}</h3>
        <State tone={look.tone}>{look.word}</State>
      </div>
      {upstream.base_url === undefined ? null : <code className={css.address}>{upstream.base_url}</code>}
      {upstream.reason == null ? null : (
        <p className={css.reason}>
          {upstream.reason}
          {upstream.retry_at == null ? '' : ` It is tried again at ${timeOfDay(upstream.retry_at)}.`}
        </p>
      )}
      <Facts
        wide
        rows={[
          ['Kind', upstream.kind],
          ['Where', upstream.remote ? 'somebody else’s' : 'own network'],
          ['Priority', String(upstream.priority)],
          ['Models', count(upstream.models)],
          ['List read', upstream.listed_at === null ? 'never' : <Ago key="at" at={upstream.listed_at} />],
          ['Key', key(upstream)],
          ['Requests today', today(upstream)],
        ]}
      />
      <div className={css.acts}>
        {ACTS.map(({ show, word }) => (
          <Button key={show} onClick={() => props.open(show, upstream.name)}>
            {word}
            <span className="hidden-visually"> upstream {upstream.name}</span>
          </Button>
        ))}
      </div>
    </li>
  );
}
