import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { snippetOf } from '../../api/snippets.ts';
import { Card } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';

/** The slot for the example: `agent`, else a loaded chat slot, else any chat slot. */
export function slotToTry(slots: readonly SlotRecord[]): SlotRecord | undefined {
  const able = slots.filter((row) => row.enabled && row.type === 'llm' && row.model !== null);
  return able.find(({ name }) => name === 'agent') ?? able.find(({ context }) => context !== null) ?? able[0];
}

/** An example request to copy. */
export function TryIt(props: {
  slots: readonly SlotRecord[] | undefined;
  status: StatusOverviewView | undefined;
}): ReactElement | null {
  const slot = slotToTry(props.slots ?? []);
  if (slot === undefined || props.status === undefined) return null;
  const text = snippetOf('curl', {
    base: location.origin,
    short: true,
    key: props.status.enforcement.require_auth,
    body: { model: slot.name, messages: [{ role: 'user', content: 'Hello! Who are you?' }] },
  });
  return (
    <Card title="Example request" aside={<Link href="/playground">Chat in the browser</Link>}>
      <Code text={text} what="the curl command" title="In a terminal" />
    </Card>
  );
}
