import { resolve } from 'node:path';
import { remoteHostOf } from '../../lib/net/remote-host.ts';
import { toUrl } from '../client.ts';
import { type Command, type CommandContext, namedArguments } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import type { Flags, OptionName } from '../options.ts';

/** Returns the given options for a sub-command of the daemon binary. */
function forwardedOptions(flags: Flags, ...names: OptionName[]): string[] {
  return names.flatMap((name) => {
    const value = flags[name];
    if (typeof value === 'string') return [`--${name}`, value];
    return value ? [`--${name}`] : [];
  });
}

function doctor(context: CommandContext): Promise<number> {
  namedArguments(context, 'doctor [--self-test]');
  // Checked here as for every other command: the sub-command has only one exit code for all its failures.
  if (context.namedUrl !== null) toUrl(context.namedUrl, '');
  return context.daemon(['doctor', ...forwardedOptions(context.flags, 'self-test', 'json', 'url')]);
}

/** Throws CliError when another machine is named, because the command works on local files. */
function requireThisMachine({ namedUrl }: CommandContext, what: string): void {
  if (namedUrl === null) return;
  toUrl(namedUrl, '');
  const host = remoteHostOf(namedUrl);
  if (host === null) return;
  throw new CliError(
    `${what} works on the files of this machine; run it on ${host}, or leave --url and SVC_URL out`,
    EXIT.usage,
  );
}

function backup(context: CommandContext): Promise<number> {
  const { FILE } = namedArguments(context, 'backup FILE [--with-keys] [--force]', 'FILE');
  requireThisMachine(context, 'backup');
  const options = forwardedOptions(context.flags, 'with-keys', 'force', 'json');
  return context.daemon(['backup', ...options, '--', resolve(FILE)]);
}

function restore(context: CommandContext): Promise<number> {
  const { FILE } = namedArguments(context, 'restore FILE', 'FILE');
  requireThisMachine(context, 'restore');
  return context.daemon(['restore', ...forwardedOptions(context.flags, 'json'), '--', resolve(FILE)]);
}

/**
 * Maintenance commands. All of them work while the daemon is down, because they are sub-commands of the
 * daemon binary.
 */
export const maintenanceCommands: readonly Command[] = [
  {
    words: 'doctor',
    usage: '',
    summary: 'Find problems and show fixes',
    options: ['self-test'],
    details:
      'Works whether the gateway runs or not, and changes nothing. Each finding is ok, warn or fail, with the next step in one line. The exit code is 1 when a check failed and 0 otherwise, warnings included. With sudo the checks run as the user of the service.',
    run: doctor,
  },
  {
    words: 'backup',
    usage: 'FILE',
    summary: 'Back up configuration and database',
    options: ['with-keys', 'force'],
    details:
      'Writes config.toml, slot and upstream files, the settings of api.env and the database into one .tar.gz that only its owner can read; the gateway may be running. Models are not included; keys only with --with-keys. An existing file is replaced only with --force.',
    run: backup,
  },
  {
    words: 'restore',
    usage: 'FILE',
    summary: 'Restore a backup; stop the gateway first',
    details:
      'Checks the whole file before anything changes, and keeps the replaced files in the state folder. Keys stay unchanged unless the backup contains some; browsers must log in again. Run the same command again after an interrupted restore.',
    run: restore,
  },
];
