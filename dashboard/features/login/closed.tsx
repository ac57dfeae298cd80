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

/** Nobody can follow events of a closed gateway, so it is asked. */
const LOOK_MS = 2000;

/** Keys are required and there is none: what that means, and the way out. The login follows by itself. */
export function Closed(): ReactElement {
  useTitle('Closed');
  useQuery({ ...queries.auth, refetchInterval: LOOK_MS });
  return (
    <div className={css.closed}>
      <header className={css.closedHead}>
        <Lock size={24} aria-hidden="true" />
        <h1>The gateway is closed until an admin key is set</h1>
      </header>
      <p>
        It requires keys, but no admin key is set. So it refuses everybody, apps with a client key included:
        only its health, the list of models and the setup answer. Nothing makes a key by itself, and no page
        ever shows one.
      </p>
      <Card title="1. Set a key">
        <div className={css.help}>
          <SetKey />
        </div>
      </Card>
      <Card title="2. Log in with it">
        <div className={css.help}>
          <p role="status">
            <State tone="busy">Waiting for the key</State> The login comes here by itself.
          </p>
          <ReadKey />
        </div>
      </Card>
      <p className={css.soft}>
        To open it without a key instead, take <code>SVC_REQUIRE_AUTH</code> out of <code>api.env</code>, or
        set <code>require_auth = false</code> below <code>[security]</code> in <code>config.toml</code>.
      </p>
      <p>
        <Link className={buttonClass()} href="/setup">
          Choose models meanwhile
        </Link>
      </p>
    </div>
  );
}
