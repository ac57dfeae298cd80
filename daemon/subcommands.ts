import type { DaemonArguments, Subcommand } from './arguments.ts';
import { createLog } from './kit/log.ts';
import { settingsTable } from './settings/print.ts';
import { openSettings } from './settings/settings.ts';

export interface SubcommandOptions {
  env: Readonly<Record<string, string | undefined>>;
  given: DaemonArguments;
  out(text: string): void;
}

/** Answers the exit code of the process. */
type Runner = (options: SubcommandOptions) => Promise<number>;

/** Prints the settings as they would be in force now; secrets show only whether they are set. */
async function config({ env, given, out }: SubcommandOptions): Promise<number> {
  const log = createLog({ level: 'silent' });
  const settings = await openSettings({ env, log, watch: false });
  try {
    const rows = settings.views();
    const problems = settings.problems();
    if (given.json) {
      out(`${JSON.stringify({ folders: settings.folders, settings: rows, problems }, null, 2)}\n`);
      return 0;
    }
    out(
      `Configuration ${settings.folders.config}\nState         ${settings.folders.state}\n\n${settingsTable(rows)}`,
    );
    for (const { file, line, message } of problems)
      out(`! ${file}${line === null ? '' : `:${line}`}: ${message}\n`);
    return 0;
  } finally {
    settings.close();
  }
}

/** Each is read in only when it is asked for: `config` needs little of what the others need. */
const RUNNERS: Record<Subcommand, Runner> = {
  config,
  doctor: async (options) => (await import('./commands/doctor.ts')).doctorCommand(options),
  backup: async (options) => (await import('./commands/backup.ts')).backupCommand(options),
  restore: async (options) => (await import('./commands/backup.ts')).restoreCommand(options),
  'companion-env': async (options) =>
    (await import('./commands/companion-env.ts')).companionEnvCommand(options),
  'end-containers': async (options) =>
    (await import('./commands/end-containers.ts')).endContainersCommand(options),
};

/** Runs a sub-command that needs no running daemon. Throws SetupError for folders that can't be used, and GatewayError. */
export const runSubcommand = (name: Subcommand, options: SubcommandOptions): Promise<number> =>
  RUNNERS[name](options);
