import type { SubcommandOptions } from '../commands/subcommand-options.ts';
import { settingsTable } from '../contract/settings-table.ts';
import type { Subcommand } from '../lib/arguments.ts';
import { becomeOwnerOf } from '../lib/fs/as-owner.ts';
import { SetupError } from '../lib/setup-error.ts';
import { folderPaths } from '../settings/folders.ts';
import { loadSettingsReadOnly } from '../settings/read-only-settings.ts';

/** Returns the exit code of the process. */
type SubcommandHandler = (options: SubcommandOptions) => Promise<number>;

/**
 * Prints the settings that would be in force now, and changes nothing. Secrets show only whether they are
 * set. Throws SetupError when files are not readable, because the defaults would be shown instead.
 */
async function config({ env, args, out }: SubcommandOptions): Promise<number> {
  becomeOwnerOf(folderPaths(env).state);
  const settings = await loadSettingsReadOnly(env);
  const [denied] = settings.denied();
  if (denied !== undefined) {
    throw new SetupError(`${denied} is not readable.`, 'Use sudo, or run the command as the service user.');
  }
  const rows = settings.views();
  const problems = settings.problems();
  if (args.json) {
    out(`${JSON.stringify({ folders: settings.folders, settings: rows, problems }, null, 2)}\n`);
    return 0;
  }
  out(
    `Configuration ${settings.folders.config}\nState         ${settings.folders.state}\n\n${settingsTable(rows)}`,
  );
  for (const { file, line, message } of problems)
    out(`! ${file}${line === null ? '' : `:${line}`}: ${message}\n`);
  return 0;
}

/** Each handler imports its command on demand, because `config` needs few of the modules. */
const HANDLERS: Record<Subcommand, SubcommandHandler> = {
  config,
  doctor: async (options) => (await import('../commands/doctor.ts')).doctorCommand(options),
  backup: async (options) => (await import('../commands/backup.ts')).backupCommand(options),
  restore: async (options) => (await import('../commands/backup.ts')).restoreCommand(options),
  'companion-env': async (options) =>
    (await import('../commands/companion-env.ts')).companionEnvCommand(options),
  'end-containers': async (options) =>
    (await import('../commands/end-containers.ts')).endContainersCommand(options),
};

/**
 * Runs a sub-command that needs no running daemon. Throws SetupError for folders that cannot be used, and
 * GatewayError.
 */
export const runSubcommand = (name: Subcommand, options: SubcommandOptions): Promise<number> =>
  HANDLERS[name](options);
