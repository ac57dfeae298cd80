import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../../contract/slots.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import type { CommandContext } from '../command.ts';
import { requireConfirmation } from '../confirmation.ts';
import { EXIT } from '../exit-codes.ts';
import { json, plain } from '../output.ts';
import { slotSettings } from '../slot-settings.ts';
import { fields, fitted } from '../table.ts';

export async function create(context: CommandContext, name: string, ...words: string[]): Promise<number> {
  const body = slotSettings(words);
  const slot = await context.client.call<SlotRecord>('slot.create', { name, ...body });
  context.out(context.flags.json ? json(slot) : `Created slot ${slot.name} (${slot.state}).\n`);
  return EXIT.ok;
}

export async function set(context: CommandContext, name: string, ...words: string[]): Promise<number> {
  const body = slotSettings(words);
  const slot = await context.client.call<SlotRecord>('slot.change', body, { params: { name } });
  const later = slot.pid === null ? '' : ' The running engine uses the new settings after its next start.';
  context.out(context.flags.json ? json(slot) : `Changed slot ${slot.name}.${later}\n`);
  return EXIT.ok;
}

export async function settings({ client, flags, out, width }: CommandContext, name: string): Promise<number> {
  const view = await client.call<SlotSettingsView>('slot.settings', undefined, { params: { name } });
  out(flags.json ? json(view) : settingsText(view, width));
  return EXIT.ok;
}

/** Every key with its value and source. Marks keys that only the file can set. */
function settingsText({ slot, file, settings: rows, problems }: SlotSettingsView, width: number): string {
  const shown = rows.map(({ key, value, from, editable }) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
    from,
    editable ? '' : 'file only',
  ]);
  return [
    fields({ Slot: slot, File: file ?? 'none' }),
    '\n',
    fitted(['KEY', 'VALUE', 'FROM', ''], shown, { width, shrink: [1] }),
    ...problems.map(({ line, message }) => `! ${file}${line === null ? '' : `:${line}`}: ${message}\n`),
  ].join('');
}

export async function remove(context: CommandContext, name: string): Promise<number> {
  await requireConfirmation(context, `This deletes the file of slot ${plain(name)}. Remove the slot?`);
  const done = await context.client.call('slot.remove', undefined, { params: { name }, timeoutMs: 600_000 });
  context.out(context.flags.json ? json(done) : `Removed slot ${name}.\n`);
  return EXIT.ok;
}

export async function plan({ client, flags, out, width }: CommandContext, name: string): Promise<number> {
  const query = { model_id: flags.model };
  const view = await client.call<SlotPlanView>('slot.plan', undefined, { params: { name }, query });
  out(flags.json ? json(view) : planText(view, width));
  return EXIT.ok;
}

/** The launch with the source of each value, the memory sum, and the effect of a load now. */
function planText(view: SlotPlanView, width: number): string {
  const launch = Object.entries(view.launch).map(([key, { value, from }]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
    from,
  ]);
  const { need, forecast } = view;
  const { sum } = forecast;
  const victims = sum.victims.map(({ slot, bytes: held, stays }) => [
    slot,
    formatBytes(held),
    stays === null ? 'would be unloaded' : `stays: ${stays}`,
  ]);
  return [
    fields({
      Slot: `${view.slot}, model ${view.model}`,
      Engine: `${view.engine}, runner ${view.runner}`,
      Now: outcome(forecast),
    }),
    '\n',
    fitted(['LAUNCH', 'VALUE', 'FROM'], launch, { width, shrink: [1] }),
    '\n',
    fields({
      Needed: `${formatBytes(need.total)} (${need.source})`,
      Weights: formatBytes(need.weights),
      Window: formatBytes(need.window),
      Compute: formatBytes(need.compute),
      Engine: formatBytes(need.engine),
      'Free now': `${formatBytes(sum.free)} in pool ${sum.pool}, ${formatBytes(sum.reserved)} promised, ${formatBytes(sum.kept_free)} kept free`,
      ...(sum.limit === null
        ? {}
        : { Limit: `${formatBytes(sum.limit)}, ${formatBytes(sum.held)} of it held` }),
      Short: formatBytes(sum.short),
    }),
    victims.length === 0 ? '' : `\n${fitted(['HOLDS', 'MEMORY', 'THEN'], victims, { width, shrink: [0] })}`,
  ].join('');
}

function outcome({ outcome: word, evicts }: SlotPlanView['forecast']): string {
  const others = evicts.join(', ');
  if (word === 'starts') return 'it would start at once';
  if (word === 'evicts') return `it would start after unloading ${others}`;
  return word === 'waits' ? `it would wait for ${others}` : 'it would be refused: not enough memory';
}
