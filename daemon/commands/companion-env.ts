import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { COMPANION_FILE, type CompanionPlan, readCompanionPlan } from '../companion/companion-env.ts';
import { containerEnv, envFileText } from '../companion/container-env.ts';
import { companionSeed } from '../companion/seed.ts';
import { companionWarning } from '../companion/warning.ts';
import { becomeOwnerOf } from '../lib/fs/as-owner.ts';
import { SetupError } from '../lib/setup-error.ts';
import { SETTINGS } from '../settings/catalogue.ts';
import { loadSettingsReadOnly, type ReadOnlySettings } from '../settings/read-only-settings.ts';
import type { SubcommandOptions } from './subcommand-options.ts';

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
const SECRET_BYTES = 32;

/** Opens the file that Podman reads, empty and with mode 0600, before this process drops root. */
async function openPrivate(path: string): Promise<FileHandle> {
  try {
    const handle = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    await handle.chmod(0o600);
    return handle;
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new SetupError(`${path} can't be written (${reason}).`, 'Choose a file in a separate folder.', {
      cause,
    });
  }
}

/** Writes the first companion.env. Keeps an existing one. */
async function seed(settings: ReadOnlySettings): Promise<void> {
  const port = settings.resolve('companionPort');
  const bindHost = settings.resolve('companionBindHost');
  const text = companionSeed({
    bindHost: bindHost.source === 'default' ? settings.value('bindHost') : bindHost.value,
    port: port.source === 'default' ? SETTINGS.companionPort.default : port.value,
    sessionSecret: randomBytes(SECRET_BYTES).toString('base64url'),
  });
  const path = join(settings.folders.config, COMPANION_FILE);
  const handle = await open(path, 'wx', 0o600);
  await handle.writeFile(text).finally(() => handle.close());
}

async function planOf(settings: ReadOnlySettings): Promise<CompanionPlan> {
  try {
    await seed(settings);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EEXIST') {
      const advice = 'Let the user of the gateway write its configuration folder.';
      throw new SetupError(`${COMPANION_FILE} can't be made (${code ?? 'unknown error'}).`, advice, {
        cause,
      });
    }
  }
  const plan = await readCompanionPlan(settings.folders.config, settings);
  if (plan !== null) return plan;
  throw new SetupError(`${COMPANION_FILE} can't be read.`, 'Run svcctl doctor to see what is wrong with it.');
}

/**
 * `svc-gateway companion-env FILE`: writes the variables of the chat UI, including the client key, to FILE
 * (0600) for svc-companion.service, and creates companion.env at the first start. As root it reads and writes
 * the configuration as its owner.
 */
export async function companionEnvCommand({ env, args, out }: SubcommandOptions): Promise<number> {
  const handle = await openPrivate(resolve(args.operands[0] ?? ''));
  try {
    const folders = (await loadSettingsReadOnly(env)).folders;
    becomeOwnerOf(folders.state);
    const settings = await loadSettingsReadOnly(env);
    const plan = await planOf(settings);
    const [clientKey, bindHost, port] = [
      settings.value('clientKey'),
      settings.value('bindHost'),
      settings.value('port'),
    ];
    await handle.writeFile(envFileText(containerEnv({ plan, clientKey, bindHost, port })));
    for (const { file, line, message } of plan.problems) out(`! ${file}:${line} ${message}.\n`);
    const enforced = settings.value('requireAuth');
    const warning = companionWarning({ plan, enforced, hasClientKey: clientKey !== '' });
    if (warning !== null) out(`! ${warning}\n`);
    return 0;
  } finally {
    await handle.close();
  }
}
