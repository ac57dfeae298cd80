import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { conversation } from '../playground/store.ts';
import { isLoaded } from './holder.ts';

/** The next step towards using a model: load it, talk to it, or give it a slot. */
export function UseIt(props: {
  model: Pick<ModelWithMemory, 'id' | 'type'>;
  slot: SlotRecord | undefined;
  onLoad: () => void;
}): ReactElement | null {
  const { model, slot } = props;
  const [, go] = useLocation();
  const whose = <span className="hidden-visually"> {model.id}</span>;
  if (slot === undefined) {
    return (
      <Link className={buttonClass()} href="/slots?show=new">
        Give it a slot…{whose}
      </Link>
    );
  }
  if (slot.state === 'offline' || slot.state === 'error') {
    return <Button onClick={props.onLoad}>Load…{whose}</Button>;
  }
  if (model.type !== 'llm' || !isLoaded(slot)) return null;
  return (
    <Button
      look="main"
      onClick={() => {
        conversation.setModel(model.id);
        go('/playground');
      }}
    >
      Talk to it<span className="hidden-visually"> in the playground: {model.id}</span>
    </Button>
  );
}
