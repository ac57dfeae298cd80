import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { NameView } from '../../../daemon/contract/models.ts';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { State } from '../../ui/state-badge.tsx';
import css from './models.module.css';
import { nameLine } from './name-words.ts';

function NameItem(props: { name: NameView }): ReactElement {
  const { name } = props;
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h3>
          {name.name}
          <span className={css.sub}>{nameLine(name)}</span>
        </h3>
        {name.problem === null ? null : <State tone="attention">No effect</State>}
      </div>
      {name.problem === null ? null : (
        <p className={css.soft}>
          {name.name} {name.problem}.
        </p>
      )}
    </li>
  );
}

/** The aliases and presets of config.toml. Renders nothing without any. */
export function Names(): ReactElement | null {
  const names = useQuery(queries.names).data?.names ?? [];
  if (names.length === 0) return null;
  return (
    <Card title="Aliases and presets" flush aside="from config.toml">
      <ul className={css.list} aria-label="Aliases and presets">
        {names.map((each) => (
          <NameItem key={`${each.kind} ${each.name}`} name={each} />
        ))}
      </ul>
    </Card>
  );
}
