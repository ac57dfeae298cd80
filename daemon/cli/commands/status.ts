import type { SlotRecord } from '../../contract/slots.ts';
import type { StatusOverviewView } from '../../contract/system.ts';
import type { Command, CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { fields, fitted, json } from '../output.ts';

async function status({ client, flags, out, width }: CommandContext): Promise<number> {
  const view = await client.call<StatusOverviewView>('status');
  const { slots } = await client.call<{ slots: SlotRecord[] }>('slots');
  if (flags.json) {
    out(json({ ...view, slot_list: slots }));
    return EXIT.ok;
  }
  out(
    fields({
      Gateway: `${view.name} ${view.version} on ${view.host}`,
      Listening: `${view.listener.bind_host} port ${view.listener.port}`,
      Enforcement: `${view.enforcement.require_auth ? 'on' : 'off'} (${view.enforcement.source})`,
      Started: new Date(view.started_at).toISOString(),
    }),
  );
  const rows = slots.map((slot) => [
    slot.name,
    slot.state,
    slot.model ?? '-',
    slot.device ?? '-',
    slot.failure?.reason ?? '',
  ]);
  const head = ['SLOT', 'STATE', 'MODEL', 'DEVICE', 'REASON'];
  out(`\n${fitted(head, rows, { width, shrink: [0, 2, 4] })}`);
  for (const warning of view.warnings) out(`! ${warning.message}\n`);
  return EXIT.ok;
}

/** Works while the daemon is down: it is a sub-command of the daemon binary. */
const config = ({ flags, daemon }: CommandContext) => daemon(['config', ...(flags.json ? ['--json'] : [])]);

export const statusCommands: readonly Command[] = [
  {
    words: 'status',
    usage: '',
    summary: 'The gateway and its slots',
    options: ['wide'],
    run: status,
  },
  { words: 'config', usage: '', summary: 'Every setting with its value and source', run: config },
];
