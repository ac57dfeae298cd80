import { resolve } from 'node:path';
import { backup } from '../backup/backup.ts';
import { restore } from '../backup/restore.ts';
import { formatBytes } from '../lib/text/bytes-text.ts';
import { VERSION } from '../lib/version.ts';
import { existingFolders, openFolders } from '../settings/folders.ts';
import { lockState } from '../store/state-lock.ts';
import type { SubcommandOptions } from './subcommand-options.ts';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** `svc-gateway backup FILE [--with-keys] [--force]`. Throws GatewayError and SetupError. */
export async function backupCommand({ env, args, out }: SubcommandOptions): Promise<number> {
  const made = await backup({
    folders: existingFolders(env),
    file: resolve(args.operands[0] ?? ''),
    keys: args.withKeys,
    force: args.force,
    version: VERSION,
  });
  if (args.json) {
    out(json(made));
    return 0;
  }
  const keys = made.keys ? 'with the keys' : 'without keys (--with-keys includes them)';
  out(`${made.file}: ${made.files.length} files, ${formatBytes(made.bytes)}, ${keys}\n`);
  out(`Configuration ${made.config}\n`);
  if (!made.database) out('! the database does not exist yet\n');
  for (const each of made.left_out) out(`! skipped ${each}\n`);
  return 0;
}

/** `svc-gateway restore FILE`. Throws GatewayError and SetupError. */
export async function restoreCommand({ env, args, out }: SubcommandOptions): Promise<number> {
  const folders = openFolders(env, 'command');
  const done = await restore({
    folders,
    file: resolve(args.operands[0] ?? ''),
    lock: () => lockState(folders.state),
  });
  if (args.json) {
    out(json(done));
    return 0;
  }
  out(`Restored ${done.files.length} files of ${done.made_at}, made by release ${done.version}\n`);
  out(`Configuration ${folders.config}\n`);
  out(`${done.keys ? 'Keys are those of the backup' : 'Keys are unchanged'}; browsers must log in again\n`);
  out(`The replaced files are in ${done.kept}\n`);
  return 0;
}
