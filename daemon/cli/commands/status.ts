import { dirname } from 'node:path';
import type { z } from 'zod';
import type { AgentView } from '../../contract/models.ts';
import { settingsTable } from '../../contract/settings-table.ts';
import { sharedEngineText } from '../../contract/shared-engine.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { SettingsResponse, StatusOverviewView } from '../../contract/system.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { clock, duration } from '../format.ts';
import { json, plain } from '../output.ts';
import { fields, fitted } from '../table.ts';

export async function status({ client, flags, out, width }: CommandContext): Promise<number> {
  const [view, { slots }, agent] = await Promise.all([
    client.call<StatusOverviewView>('status'),
    client.call<{ slots: SlotRecord[] }>('slots'),
    client.call<AgentView>('agent'),
  ]);
  if (flags.json) {
    out(json({ ...view, slot_list: slots, agent }));
    return EXIT.ok;
  }
  out(
    fields({
      Gateway: `${view.name} ${view.version} on ${view.host}`,
      Listening: `${view.listener.bind_host} port ${view.listener.port}`,
      Enforcement: `${view.enforcement.require_auth ? 'on' : 'off'} (${view.enforcement.source})`,
      Started: startedText(view.started_at, Date.now()),
    }),
  );
  const rows = slots.map((slot) => [
    slot.name,
    slot.state,
    slot.model ?? '-',
    slot.device ?? '-',
    slot.failure?.reason ?? (missingModel(slot) || (sharedEngineText(slot) ?? '')),
  ]);
  const head = ['SLOT', 'STATE', 'MODEL', 'DEVICE', 'REASON'];
  out(`\n${fitted(head, rows, { width, shrink: [0, 2, 4] })}`);
  if (agent.offer !== null) out(offerText(agent.model, agent.offer.model));
  for (const warning of view.warnings) out(`! ${warning.message}\n`);
  return EXIT.ok;
}

/** A larger model that the owner may choose. */
const offerText = (current: string | null, model: string): string =>
  `${plain(model)} is larger than ${plain(current ?? 'the model of agent')}. To use it as agent: svcctl models use ${plain(model)}\n`;

/** A slot whose model is absent fails at its next load. */
const missingModel = ({ model_missing: missing }: SlotRecord): string =>
  missing === undefined ? '' : `model ${missing} is missing`;

/** The time of the start in this machine's zone, and how long ago it was. */
const startedText = (at: number, now: number): string =>
  `${clock(new Date(at), new Date(now))} (up ${duration(Math.max(0, now - at))})`;

type SettingsBody = z.infer<typeof SettingsResponse>;

/** Fall back to the files when the gateway is unreachable or refuses the key. */
const FALLBACK_EXIT_CODES: ReadonlySet<number> = new Set([EXIT.unreachable, EXIT.refused]);

function printSettings({ flags, out }: CommandContext, view: SettingsBody): number {
  if (flags.json) {
    out(json({ answered_by: 'gateway', ...view }));
    return EXIT.ok;
  }
  const head = view.env_file === undefined ? '' : `Configuration ${dirname(view.env_file)}\n`;
  out(`${head}Answered by   the running gateway\n\n${plain(settingsTable(view.settings))}`);
  for (const { file, line, message } of view.problems)
    out(plain(`! ${file}${line === null ? '' : `:${line}`}: ${message}\n`));
  return EXIT.ok;
}

/** Prints the settings of the gateway. Runs a sub-command of the daemon binary while it is down. */
export async function config(context: CommandContext): Promise<number> {
  const { client, flags, out, daemon } = context;
  const view = await client.call<SettingsBody>('settings').catch((error: unknown) => {
    if (error instanceof CliError && FALLBACK_EXIT_CODES.has(error.exitCode)) return error;
    throw error;
  });
  if (!(view instanceof CliError)) return printSettings(context, view);
  if (flags.json) return daemon(['config', '--json']);
  out(
    `The gateway did not provide its settings: ${view.message}\nThese are the settings that a gateway started on this machine would use.\n\n`,
  );
  return daemon(['config']);
}
