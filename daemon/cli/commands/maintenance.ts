import { resolve } from 'node:path';
import { remoteHostOf } from '../../lib/net/remote-host.ts';
import { toUrl } from '../client.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import type { Flags } from '../options.ts';

/** Options of sub-commands of the daemon binary. */
const FORWARDED = {
  force: '--force',
  json: '--json',
  selfTest: '--self-test',
  url: '--url',
  withKeys: '--with-keys',
} as const satisfies Partial<Record<keyof Flags, string>>;

/** Returns the given options for a sub-command of the daemon binary. */
function forwardedOptions(flags: Flags, ...names: (keyof typeof FORWARDED)[]): string[] {
  return names.flatMap((name) => {
    const value = flags[name];
    if (typeof value === 'string') return [FORWARDED[name], value];
    return value ? [FORWARDED[name]] : [];
  });
}

/**
 * Runs the checks. Works while the daemon is down, as `backup` and `restore` do, because all three are
 * sub-commands of the daemon binary.
 */
export async function doctor(context: CommandContext): Promise<number> {
  // Checked here as for every other command: the sub-command has only one exit code for all its failures.
  if (context.namedUrl !== null) toUrl(context.namedUrl, '');
  return context.daemon(['doctor', ...forwardedOptions(context.flags, 'selfTest', 'json', 'url')]);
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

export async function backup(context: CommandContext, file: string): Promise<number> {
  requireThisMachine(context, 'backup');
  const options = forwardedOptions(context.flags, 'withKeys', 'force', 'json');
  return context.daemon(['backup', ...options, '--', resolve(file)]);
}

export async function restore(context: CommandContext, file: string): Promise<number> {
  requireThisMachine(context, 'restore');
  return context.daemon(['restore', ...forwardedOptions(context.flags, 'json'), '--', resolve(file)]);
}
