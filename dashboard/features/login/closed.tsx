import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { queries } from '../../api/queries.ts';
import { useTitle } from '../../app/title.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { State } from '../../ui/state-badge.tsx';
import css from './login.module.css';
import { ReadKey, SetKey } from './set-key.tsx';

/** A closed gateway refuses the event stream, so its state is polled. */
const POLL_MS = 2000;

/** Shown while keys are required and none is set: the effect and the remedy. The login form replaces it once a key exists. */
export function Closed(): ReactElement {
  useTitle('Closed');
  useQuery({ ...queries.auth, refetchInterval: POLL_MS });
  return (
    <div className={css.closed}>
      <header className={css.closedHead}>
        <Lock size={24} aria-hidden="true" />
        <h1>The gateway is closed until an admin key is set</h1>
      </header>
      <p>
        Keys are required, but no admin key is set. All requests are refused, including those with a client
        key; only the health check, the model list and setup still work. No key is created automatically, and
        the dashboard never shows one.
      </p>
      <Card title="1. Create an admin key">
        <div className={css.help}>
          <SetKey />
        </div>
      </Card>
      <Card title="2. Log in">
        <div className={css.help}>
          <p role="status">
            <State tone="busy">Waiting for the key</State> The login form appears here as soon as it is set.
          </p>
          <ReadKey />
        </div>
      </Card>
      <p className={css.soft}>
        To run without keys instead, remove <code>SVC_REQUIRE_AUTH</code> from <code>api.env</code>, or set{' '}
        <code>require_auth = false</code> under <code>[security]</code> in <code>config.toml</code>.
      </p>
      <p>
        <Link className={buttonClass()} href="/setup">
          Choose models meanwhile
        </Link>
      </p>
    </div>
  );
}
