import type { Subcommand } from './arguments.ts';
import { createLog } from './kit/log.ts';
import { settingsTable } from './settings/print.ts';
import { openSettings } from './settings/settings.ts';

export interface SubcommandOptions {
  env: Readonly<Record<string, string | undefined>>;
  json: boolean;
  out(text: string): void;
}

/** Prints the settings as they would be in force now; secrets show only whether they are set. */
async function config({ env, json, out }: SubcommandOptions): Promise<void> {
  const log = createLog({ level: 'silent' });
  const settings = await openSettings({ env, log, watch: false });
  try {
    const rows = settings.views();
    const problems = settings.problems();
    if (json)
      return out(`${JSON.stringify({ folders: settings.folders, settings: rows, problems }, null, 2)}\n`);
    out(
      `Configuration ${settings.folders.config}\nState         ${settings.folders.state}\n\n${settingsTable(rows)}`,
    );
    for (const { file, line, message } of problems)
      out(`! ${file}${line === null ? '' : `:${line}`}: ${message}\n`);
  } finally {
    settings.close();
  }
}

const RUNNERS: Record<Subcommand, (options: SubcommandOptions) => Promise<void>> = { config };

/** Runs a sub-command that needs no running daemon. Throws SetupError for folders that can't be used. */
export const runSubcommand = (name: Subcommand, options: SubcommandOptions): Promise<void> =>
  RUNNERS[name](options);
