import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { Card } from '../../ui/card.tsx';
import field from '../../ui/field.module.css';
import { LogView } from '../../ui/log/log-view.tsx';
import { useLog } from '../../ui/log/use-log.ts';
import { LEVELS, readGatewayLine } from './gateway-line.ts';
import css from './settings.module.css';

/** The gateway log, live. */
export function GatewayLog(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const level = LEVELS.find((name) => name === search.get('level')) ?? 'info';
  const log = useLog({
    id: 'logs',
    options: { query: { level, lines: '500' } },
    read: readGatewayLine,
  });
  return (
    <Card title="Gateway log">
      <LogView log={log} what="Log lines" empty="No lines of this level since the start.">
        <label className={css.level}>
          <span>Level</span>
          <select
            className={field.input}
            value={level}
            onChange={(event) => setSearch({ level: event.target.value }, { replace: true })}
          >
            {LEVELS.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </LogView>
    </Card>
  );
}
