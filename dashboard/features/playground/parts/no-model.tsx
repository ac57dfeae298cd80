import { Boxes } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { Empty } from '../../../ui/empty.tsx';
import { ABILITIES, type Ability } from './models.ts';

/** Shown when no model has the ability: explains how to get one. */
export function NoModel(props: { ability: Ability }): ReactElement {
  const { kind, purpose } = ABILITIES[props.ability];
  return (
    <Empty icon={Boxes} title={`No ${kind} model yet`}>
      <p>
        Download one under Models, or put one into the models folder; it gets a slot automatically. In a
        terminal, <code>svcctl models catalog {purpose}</code> lists recommended ones.
      </p>
      <p>
        <Link href="/models">Open models</Link> · <Link href="/slots">Open slots</Link>
      </p>
    </Empty>
  );
}
