import { AGENTS, isAgent } from '../../contract/agent-config.ts';
import type { V1ModelRecord } from '../../contract/models.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json } from '../output.ts';
import { table } from '../table.ts';

/** Prints the configuration of a coding agent with the address, a model and the window that it has here. */
export async function agents(context: CommandContext, name?: string): Promise<number> {
  const { client, flags, out } = context;
  if (name === undefined) {
    const rows = Object.entries(AGENTS).map(([id, { title, place }]) => [id, title, place]);
    out(flags.json ? json(Object.keys(AGENTS)) : table(['NAME', 'CLIENT', 'WHERE'], rows));
    return EXIT.ok;
  }
  if (!isAgent(name))
    throw new CliError(
      `there is no configuration for "${name}": use one of ${Object.keys(AGENTS).join(', ')}`,
      EXIT.usage,
    );
  const model = flags.model ?? 'agent';
  const record = await client.call<V1ModelRecord>('v1.model', undefined, { params: { model_id: model } });
  const window = record.context_length ?? null;
  const { place, write } = AGENTS[name];
  const text = write({ base: client.base, model, window });
  out(flags.json ? json({ client: name, place, model, window, text }) : `${text}\n`);
  return EXIT.ok;
}
