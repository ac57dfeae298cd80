import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../../contract/slots.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import { type Command, type CommandContext, namedArguments } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, fitted, json } from '../output.ts';
import { slotSettings } from '../slot-settings.ts';

const KEYS = 'NAME KEY=VALUE...';

/** The slot's name and its settings as the body of a request. */
function settingsOf(
  { args }: CommandContext,
  usage: string,
): { name: string; body: Record<string, unknown> } {
  const [name = '', ...words] = args;
  if (name === '') throw new CliError(`usage: svcctl ${usage}`, EXIT.usage);
  return { name, body: slotSettings(words, usage) };
}

async function create(context: CommandContext): Promise<number> {
  const { name, body } = settingsOf(context, `slots create ${KEYS}`);
  const slot = await context.client.call<SlotRecord>('slot.create', { name, ...body });
  context.out(context.flags.json ? json(slot) : `Created slot ${slot.name} (${slot.state}).\n`);
  return EXIT.ok;
}

async function set(context: CommandContext): Promise<number> {
  const { name, body } = settingsOf(context, `slots set ${KEYS}`);
  const slot = await context.client.call<SlotRecord>('slot.change', body, { params: { name } });
  const later = slot.pid === null ? '' : ' The running engine uses the new settings after its next start.';
  context.out(context.flags.json ? json(slot) : `Changed slot ${slot.name}.${later}\n`);
  return EXIT.ok;
}

async function settings({ client, args, flags, out, width }: CommandContext): Promise<number> {
  const params = namedArguments({ args }, 'slots settings NAME', 'name');
  const view = await client.call<SlotSettingsView>('slot.settings', undefined, { params });
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

async function remove(context: CommandContext): Promise<number> {
  const { name } = namedArguments(context, 'slots rm NAME', 'name');
  if (!context.flags.force) {
    const answer = await context.confirm(`This deletes the file of slot ${name}. Remove the slot?`);
    if (answer === null) throw new CliError('no terminal to confirm; pass --force', EXIT.declined);
    if (!answer) throw new CliError('nothing was changed', EXIT.declined);
  }
  const done = await context.client.call('slot.remove', undefined, { params: { name }, timeoutMs: 600_000 });
  context.out(context.flags.json ? json(done) : `Removed slot ${name}.\n`);
  return EXIT.ok;
}

async function plan(context: CommandContext): Promise<number> {
  const { client, flags, out, width } = context;
  const params = namedArguments(context, 'slots plan NAME', 'name');
  const query = { model_id: flags.model };
  const view = await client.call<SlotPlanView>('slot.plan', undefined, { params, query });
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

export const slotFileCommands: readonly Command[] = [
  {
    words: 'slots plan',
    usage: 'NAME',
    summary: 'What a load would start and need',
    details: 'Nothing is started. With --model it plans another model than the one of the slot.',
    options: ['model', 'wide'],
    completions: ['slot'],
    run: plan,
  },
  {
    words: 'slots settings',
    usage: 'NAME',
    summary: 'Every setting of a slot and its origin',
    options: ['wide'],
    completions: ['slot'],
    run: settings,
  },
  {
    words: 'slots create',
    usage: KEYS,
    summary: 'Add a slot',
    completions: [[], 'slot-setting'],
    run: create,
  },
  {
    words: 'slots set',
    usage: KEYS,
    summary: 'Change settings of a slot',
    details: 'KEY= removes a key from the slot file. The rest of the file stays unchanged.',
    completions: ['slot', 'slot-setting'],
    run: set,
  },
  {
    words: 'slots rm',
    usage: 'NAME',
    summary: 'Remove a slot and its file',
    options: ['force'],
    completions: ['slot'],
    run: remove,
  },
];
