import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../../contract/slots.ts';
import type { CommandContext } from '../command.ts';
import { requireConfirmation } from '../confirmation.ts';
import { EXIT } from '../exit-codes.ts';
import { json, plain } from '../output.ts';
import { planText } from '../slot-plan.ts';
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
  const later = slot.pending
    ? ` The running engine uses ${slot.pending.join(', ')} after its next start: svcctl slots restart ${name}`
    : '';
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
    editable || from === 'model' ? '' : 'file only',
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
  if (flags.json) out(json(view));
  else {
    const slot = await client.call<SlotRecord>('slot', undefined, { params: { name } });
    out(planText(view, slot, width));
  }
  return EXIT.ok;
}
