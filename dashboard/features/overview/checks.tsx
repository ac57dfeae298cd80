import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { SystemHealthView } from '../../../daemon/contract/system.ts';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import css from './checks.module.css';

const BADGES: Record<SystemHealthView['checks'][string]['status'], { tone: Tone; word: string }> = {
  ok: { tone: 'ok', word: 'OK' },
  warning: { tone: 'attention', word: 'Warning' },
  failed: { tone: 'failed', word: 'Failed' },
};

/** Health checks of the parts of the gateway. */
export function Checks(props: { query: UseQueryResult<SystemHealthView> }): ReactElement {
  return (
    <Card title="Health checks">
      <Loaded query={props.query} what="health checks">
        {(data) => (
          <ul className={css.list}>
            {Object.entries(data.checks).map(([name, check]) => (
              <li key={name}>
                <span className={css.name}>{name}</span>
                <State tone={BADGES[check.status].tone}>{BADGES[check.status].word}</State>
                <span className={css.message}>{check.message}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
