import type { StatsFs } from 'node:fs';
import { access, constants, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from '../../lib/fs/root.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import { plural } from '../../lib/text/plural.ts';
import { KEEP_FREE_BYTES } from '../../models/pulls/disk-space.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

const MIB = 2 ** 20;
/** Below this, no model can be pulled and little is left for the database. */
const MIN_FREE_BYTES = KEEP_FREE_BYTES;
/** Below this, no useful model can be downloaded. */
const LOW_FREE_BYTES = 5 * 1024 * MIB;
const DAY_MS = 86_400_000;

/** Returns the free space of the disk that holds, or will hold, a folder. */
async function diskStatsFor(folder: string): Promise<StatsFs | null> {
  try {
    return await statfs(folder);
  } catch {
    return dirname(folder) === folder ? null : diskStatsFor(dirname(folder));
  }
}

/** Checks the free disk space of the state and configuration folders. */
export async function disk({ settings }: DoctorInput): Promise<Finding[]> {
  const { state, config } = settings.folders;
  const found: Finding[] = [];
  for (const folder of new Set([state, config])) {
    const stats = await diskStatsFor(folder);
    if (stats === null) continue;
    const free = stats.bavail * stats.bsize;
    const minFree = folder === state ? MIN_FREE_BYTES : MIB;
    const fix = `Free disk space; svcctl models list --wide shows the size of each model.`;
    if (free < minFree || (stats.files > 0 && stats.ffree === 0)) {
      found.push(
        fail('disk', `${folder} has ${formatBytes(free)} free and ${stats.ffree} free inodes.`, fix),
      );
    } else if (folder === state && free < LOW_FREE_BYTES) {
      found.push(warn('disk', `${folder} has ${formatBytes(free)} free: few models fit.`, fix));
    } else if (folder === state) found.push(ok('disk', `${folder} has ${formatBytes(free)} free.`));
  }
  return found;
}

const SHOW = 'Let the service see it: docs/guide/systemd.md, "Models below a home folder".';

async function readable(path: string): Promise<string | null> {
  try {
    const stats = await stat(path);
    await access(path, constants.R_OK | (stats.isDirectory() ? constants.X_OK : 0));
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}

/** The folders and the file that settings and slot files name; what they hold is not read. */
export async function models({ settings, slots, user }: DoctorInput): Promise<Finding[]> {
  const named = [settings.value('model'), ...slots.map(({ model }) => model ?? '')];
  const paths = new Set([...settings.value('modelFolders'), ...named.filter((one) => one.startsWith('/'))]);
  const results = [...paths].map(async (path) => ({ path, code: await readable(path) }));
  const found = (await Promise.all(results)).flatMap(({ path, code }) => {
    if (code === null) return [];
    const message =
      code === 'ENOENT' ? `${path} does not exist` : `${user.name} cannot read ${path} (${code})`;
    return [
      warn(
        'models',
        `${message}.`,
        code === 'ENOENT' ? `Correct the path, or mount ${dirname(path)}.` : SHOW,
      ),
    ];
  });
  const count =
    paths.size === 0 ? 'No folder is configured' : `${plural(paths.size, 'configured path')} can be read`;
  return found.length > 0 ? found : [ok('models', `${count}; models are downloaded to the state folder.`)];
}

/** When the newest file of the state folder was written. */
async function newest(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const times = names.slice(0, 200).map((name) =>
    stat(join(folder, name)).then(
      (one) => one.mtimeMs,
      () => 0,
    ),
  );
  return Math.max(0, ...(await Promise.all(times)));
}

/** A wrong clock ends sessions and breaks TLS. It is compared with the age of the program and of its files. */
export async function clock({ settings, now }: DoctorInput): Promise<Finding[]> {
  const fix = 'sudo timedatectl set-ntp true';
  const program = (await stat(join(ROOT, 'package.json'))).mtimeMs;
  const shown = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  if (now < program - DAY_MS) {
    return [
      fail('clock', `The system clock is at ${shown} UTC, which is before this release was built.`, fix),
    ];
  }
  if (now < (await newest(settings.folders.state)) - DAY_MS) {
    return [
      warn('clock', `The system clock is at ${shown} UTC, but files in the state folder are newer.`, fix),
    ];
  }
  return [ok('clock', `The system clock is at ${shown} UTC.`)];
}
