import { Boxes } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { Empty } from '../../../ui/empty.tsx';
import { ABILITIES, type Ability } from './models.ts';

/** Nothing here can do it: says how to get a model that can. */
export function NoModel(props: { ability: Ability }): ReactElement {
  const { can, purpose } = ABILITIES[props.ability];
  return (
    <Empty icon={Boxes} title={`No model that ${can} yet`}>
      <p>
        <code>svcctl models catalog {purpose}</code> lists good ones with what they need. A model that lies in
        the model folder gets a slot by itself.
      </p>
      <p>
        <Link href="/models">Find a model</Link> · <Link href="/slots">See the slots</Link>
      </p>
    </Empty>
  );
}
