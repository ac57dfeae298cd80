import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { conversation } from '../playground/store.ts';
import { isLoaded } from './holder.ts';

/** The next step to use a model: add a slot, load it, or chat with it. */
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
        Add slot…{whose}
      </Link>
    );
  }
  if (slot.state === 'offline' || slot.state === 'error') {
    return <Button onClick={props.onLoad}>Load…{whose}</Button>;
  }
  if (model.type !== 'llm' || !isLoaded(slot)) return null;
  return (
    <Button
      variant="main"
      onClick={() => {
        conversation.setModel(model.id);
        go('/playground');
      }}
    >
      Chat<span className="hidden-visually"> with {model.id} in the playground</span>
    </Button>
  );
}
