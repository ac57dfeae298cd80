import { abandonedText } from '../../contract/routing-texts.ts';
import { sharedEngineText, staysLoadedText } from '../../contract/shared-engine.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { clock, rate } from '../format.ts';
import { json } from '../output.ts';
import { whileLoading } from '../progress.ts';
import { fields, fitted } from '../table.ts';

/** A response may take as long as loading a model. */
const TIMEOUT_MS = 3_600_000;

export async function list({ client, flags, out, width }: CommandContext): Promise<number> {
  const view = await client.call<{ slots: SlotRecord[] }>('slots');
  if (flags.json) out(json(view));
  else if (flags.quiet) out(view.slots.map(({ name }) => `${name}\n`).join(''));
  else out(slotTable(view.slots, width));
  return EXIT.ok;
}

const stateOf = ({ enabled, state, waiting_for: waits }: SlotRecord): string =>
  enabled ? (waits?.length ? 'waiting' : state) : 'disabled';

/** Which changes of the slot file the running engine does not use yet; null for none. */
const pendingText = ({ name, pending }: SlotRecord): string | null =>
  pending === undefined
    ? null
    : `changed in the slot file, applies at the next start: ${pending.join(', ')} (svcctl slots restart ${name})`;

/** One line per slot. Failures, pending changes and shared engines are listed below. */
export function slotTable(slots: readonly SlotRecord[], width: number): string {
  const rows = slots.map((slot) => [
    slot.name,
    stateOf(slot),
    slot.model ?? '-',
    slot.device ?? '-',
    `${slot.active}/${slot.parallel}`,
    String(slot.queued),
    rate(slot.tokens_per_second),
    formatBytes(slot.memory_bytes),
  ]);
  const head = ['SLOT', 'STATE', 'MODEL', 'DEVICE', 'BUSY', 'QUEUE', 'TOK/S', 'MEMORY'];
  const failed = slots.flatMap(({ name, failure }) => (failure ? [`! ${name}: ${failure.reason}\n`] : []));
  const pending = slots.flatMap((slot) => {
    const text = pendingText(slot);
    return text === null ? [] : [`! ${slot.name}: ${text}\n`];
  });
  const shared = slots.flatMap((slot) => {
    const text = sharedEngineText(slot);
    return text === null ? [] : [`${slot.name}: ${text}.\n`];
  });
  return fitted(head, rows, { width, shrink: [0, 2, 3] }) + [...failed, ...pending, ...shared].join('');
}

export async function show({ client, flags, out }: CommandContext, name: string): Promise<number> {
  const slot = await client.call<SlotRecord>('slot', undefined, { params: { name } });
  out(flags.json ? json(slot) : slotFields(slot));
  return EXIT.ok;
}

/** All fields of a slot that apply. */
function slotFields(slot: SlotRecord): string {
  const { failure, waiting_for: waits = [], memory } = slot;
  const lines: Record<string, string | null> = {
    Slot: `${slot.name}${slot.auto ? ' (automatic)' : ''}${slot.pinned ? ', pinned' : ''}`,
    State: `${stateOf(slot)} since ${clock(new Date(slot.since), new Date())}`,
    'Waiting for': waits.length === 0 ? null : waits.join(', '),
    Model: slot.model === null ? 'none' : `${slot.model}${slot.demo ? ' (demonstration)' : ''}`,
    Type: slot.type,
    Engine: `${slot.engine}, runner ${slot.runner}${slot.pid === null ? '' : `, pid ${slot.pid}`}`,
    Shared: sharedEngineText(slot),
    Device: slot.device,
    Degraded: slot.degraded,
    Context: slot.context === null ? null : `${slot.context} tokens`,
    Requests: `${slot.active} of ${slot.parallel} running, ${slot.queued} waiting, ${slot.requests} in total`,
    Abandoned: abandonedText(slot.abandoned),
    Speed: slot.tokens_per_second === null ? null : `${rate(slot.tokens_per_second)} tokens/s`,
    Memory: slot.memory_bytes === null ? null : formatBytes(slot.memory_bytes),
    Reserved: memory ? `${formatBytes(memory.needed_bytes)} of pool ${memory.pool} (${memory.source})` : null,
    Pending: pendingText(slot),
    Failure: failure ? `${failure.reason} (${failure.failures}${failure.parked ? ', parked' : ''})` : null,
    'Next try': failure?.retry_at ? clock(new Date(failure.retry_at), new Date()) : null,
  };
  const shown = Object.entries(lines).filter((line): line is [string, string] => line[1] !== null);
  return fields(Object.fromEntries(shown));
}

type Verb = 'slot.load' | 'slot.unload' | 'slot.restart' | 'slot.swap';

/** Runs an action on a slot and prints its record when it is done, or immediately with `--no-wait`. */
async function act(
  context: CommandContext,
  route: Verb,
  { name, body }: { name: string; body?: unknown },
): Promise<number> {
  const { client, flags, out } = context;
  const query = { wait: flags.wait === false ? 'false' : undefined };
  const result = client.call<SlotRecord>(route, body, { params: { name }, query, timeoutMs: TIMEOUT_MS });
  const slot = await whileLoading(context, name, result);
  if (flags.json) out(json(slot));
  else {
    out(`${slot.name} is ${stateOf(slot)}${slot.model === null ? '' : `, model ${slot.model}`}.\n`);
    const stays = route === 'slot.unload' ? staysLoadedText(slot) : null;
    if (stays !== null) out(`${stays}.\n`);
  }
  return EXIT.ok;
}

const verb =
  (route: Verb) =>
  (context: CommandContext, name: string): Promise<number> =>
    act(context, route, { name });

export const load = verb('slot.load');
export const unload = verb('slot.unload');
export const restart = verb('slot.restart');

export const swap = (context: CommandContext, name: string, model: string): Promise<number> =>
  act(context, 'slot.swap', { name, body: { model_id: model, persist: !context.flags.once } });
