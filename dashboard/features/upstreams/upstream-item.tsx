import { Fragment, type ReactElement, type ReactNode } from 'react';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import { State } from '../../ui/state-badge.tsx';
import { Retry } from '../shared/retry.tsx';
import { missingKey, upstreamBadge } from './upstream-badge.ts';
import css from './upstreams.module.css';
import type { Show } from './url-state.ts';

const ACTS: readonly { show: Show; word: string }[] = [
  { show: 'models', word: 'Models' },
  { show: 'test', word: 'Test' },
  { show: 'edit', word: 'Edit…' },
  { show: 'key', word: 'Set key…' },
  { show: 'remove', word: 'Remove…' },
];

/** A variable name that may wrap after each underscore. */
function Variable(props: { name: string }): ReactElement {
  const words = props.name.split('_');
  return (
    <code>
      {words.map((word, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the words never change their order
        <Fragment key={at}>
          {at === 0 ? '' : '_'}
          {at === 0 ? null : <wbr />}
          {word}
        </Fragment>
      ))}
    </code>
  );
}

function key({ key_env }: UpstreamRecord): ReactNode {
  if (key_env === undefined) return null;
  return key_env === null ? 'none' : <Variable name={key_env} />;
}

function today(upstream: UpstreamRecord): string | null {
  if (upstream.requests_today === undefined) return null;
  const limit = upstream.daily_requests == null ? '' : ` of ${count(upstream.daily_requests)}`;
  return `${count(upstream.requests_today)}${limit}`;
}

/** One upstream: its address, health and actions. */
export function UpstreamItem(props: {
  upstream: UpstreamRecord;
  open: (show: Show, name: string) => void;
}): ReactElement {
  const { upstream } = props;
  const badge = upstreamBadge(upstream);
  const missing = missingKey(upstream);
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h3>{upstream.name}</h3>
        <State tone={badge.tone}>{badge.word}</State>
      </div>
      {upstream.base_url === undefined ? null : <code className={css.address}>{upstream.base_url}</code>}
      {upstream.reason == null || missing !== null ? null : (
        <p className={css.reason}>
          {upstream.reason}
          {upstream.retry_at == null ? null : (
            <>
              {' '}
              <Retry at={upstream.retry_at} />
            </>
          )}
        </p>
      )}
      {missing === null ? null : (
        <Note tone="attention">
          <p>
            <code>{missing}</code> is not set. Set the key here, or choose another variable.
          </p>
        </Note>
      )}
      <Facts
        wide
        rows={[
          ['Kind', upstream.kind],
          ['Location', upstream.remote ? 'external provider' : 'your network'],
          ['Priority', String(upstream.priority)],
          ['Models', count(upstream.models)],
          [
            'Models refreshed',
            upstream.listed_at === null ? 'never' : <Ago key="at" at={upstream.listed_at} />,
          ],
          ['Key', missing === null ? key(upstream) : null],
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
