import type { z } from 'zod';
import type { NameView } from '../../contract/models.ts';
import type { SettingsResponse } from '../../contract/system.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json, plain } from '../output.ts';
import { fitted } from '../table.ts';

/** Lists the aliases and presets of config.toml. */
export async function list({ client, flags, out, width }: CommandContext): Promise<number> {
  const view = await client.call<{ names: NameView[] }>('model.names');
  if (flags.json) out(json(view));
  else if (view.names.length === 0)
    out('No aliases or presets. svcctl models alias NAME TARGET adds an alias.\n');
  else out(nameTable(view.names, width));
  return EXIT.ok;
}

function nameTable(names: readonly NameView[], width: number): string {
  const rows = names.map((each) => [
    each.name,
    each.kind,
    each.target,
    each.problem ?? servedBy(each),
    changesText(each),
  ]);
  return fitted(['NAME', 'KIND', 'TARGET', 'SERVED BY', 'CHANGES'], rows, {
    width,
    shrink: [4, 3],
    shrinkLast: [2, 0],
  });
}

const servedBy = ({ model, slot, upstream }: NameView): string =>
  `${model ?? '-'}${slot === null ? (upstream === null ? '' : ` at ${upstream}`) : ` in slot ${slot}`}`;

/** Returns what a preset changes; `-` for an alias. */
export function changesText(view: Pick<NameView, 'set' | 'default' | 'strip' | 'system'>): string {
  const parts = (['set', 'default', 'strip'] as const).flatMap((each) =>
    view[each].length === 0 ? [] : [`${each} ${view[each].join(', ')}`],
  );
  return [...parts, ...(view.system ? ['system text'] : [])].join('; ') || '-';
}

export async function alias(context: CommandContext, name: string, target: string): Promise<number> {
  const names = await changeAliases(context, (aliases) => ({ ...aliases, [name]: target }));
  if (context.flags.json) return EXIT.ok;
  const problem = names.find((each) => each.kind === 'alias' && each.name === name)?.problem ?? null;
  context.out(`${plain(name)} now stands for ${plain(target)}.\n`);
  if (problem !== null) context.out(`! ${plain(name)} ${plain(problem)}\n`);
  return EXIT.ok;
}

export async function unalias(context: CommandContext, name: string): Promise<number> {
  await changeAliases(context, (aliases) => {
    const { [name]: target, ...rest } = aliases;
    if (target !== undefined) return rest;
    const known = Object.keys(aliases);
    const hint = known.length === 0 ? 'There are no aliases.' : `Aliases: ${known.join(', ')}.`;
    throw new CliError(`No alias "${plain(name)}". ${hint}`, EXIT.failed);
  });
  if (!context.flags.json) context.out(`Removed the alias ${plain(name)}.\n`);
  return EXIT.ok;
}

type Aliases = Readonly<Record<string, string>>;

/** Writes the changed aliases to config.toml and returns all names. Prints them with --json. */
async function changeAliases(
  { client, flags, out }: CommandContext,
  change: (aliases: Aliases) => Aliases,
): Promise<NameView[]> {
  const { settings, revision } = await client.call<z.infer<typeof SettingsResponse>>('settings');
  const aliases = change((settings.find((row) => row.name === 'aliases')?.value ?? {}) as Aliases);
  await client.call('settings.put', { values: { aliases } }, { ifMatch: revision });
  const view = await client.call<{ names: NameView[] }>('model.names');
  if (flags.json) out(json(view));
  return view.names;
}
