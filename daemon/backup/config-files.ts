import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnvFile, setInEnvFile } from '../settings/env-file.ts';
import { ENV_FILE } from '../settings/env-layer.ts';
import { readFileCapped } from '../settings/read-file.ts';
import { isPlainSetting } from '../settings/secrets.ts';
import {
  COMPANION_MEMBER,
  CONFIG_MEMBER,
  ENV_MEMBER,
  FILE_FOLDERS,
  maxBytesOf,
  SETTINGS_MEMBER,
} from './names.ts';

/** A file of the configuration under the name that it has in a backup. */
export interface ConfigFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface ConfigFiles {
  readonly files: readonly ConfigFile[];
  /** What lies there and is not taken, with the reason. */
  readonly skipped: readonly string[];
}

/** The settings of api.env that are no secrets, as an api.env of their own: no comment, no key, nothing unknown. */
export function settingsOnly(env: Buffer): Buffer {
  let out: Buffer = Buffer.alloc(0);
  for (const [name, value] of parseEnvFile(env)) {
    if (isPlainSetting(name) && !/[\0-\x1f\x7f]/.test(value)) out = setInEnvFile(out, name, value);
  }
  return out;
}

/** An api.env with the settings of another one put in; every other byte stays, the keys among them. */
export function withSettings(env: Buffer, settings: Buffer): Buffer {
  let out = env;
  for (const [name, value] of parseEnvFile(settings)) {
    if (isPlainSetting(name)) out = setInEnvFile(out, name, value);
  }
  return out;
}

/** A folder that cannot be read is not one without files: a restore would leave them beside those that it brings. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.filter((name) => name.endsWith('.toml') && !name.startsWith('.')).sort();
}

/** Members that a configuration folder may have now, those of `slots/` and `upstreams/` as they lie there. Rejects with system errors. */
export async function memberNames(config: string): Promise<string[]> {
  const inFolders = FILE_FOLDERS.map(async (folder) =>
    (await namesIn(join(config, folder))).map((name) => `config/${folder}/${name}`),
  );
  return [CONFIG_MEMBER, ENV_MEMBER, COMPANION_MEMBER, ...(await Promise.all(inFolders)).flat()];
}

/** Where a member of the configuration lies. */
export const pathOf = (config: string, member: string): string =>
  join(config, member.slice('config/'.length));

/** Reads what a backup holds of a configuration folder. A file that can't be read is left out with the reason. Rejects like memberNames. */
export async function readConfigFiles(config: string, keys: boolean): Promise<ConfigFiles> {
  const files: ConfigFile[] = [];
  const skipped: string[] = [];
  for (const name of await memberNames(config)) {
    if (name === COMPANION_MEMBER && !keys) continue;
    const cap = maxBytesOf(name);
    if (cap === null) {
      skipped.push(`${name}: not the name of a slot or upstream`);
      continue;
    }
    const read = await readFileCapped(pathOf(config, name), cap);
    if (read.kind === 'unreadable') skipped.push(`${name}: ${read.message}`);
    if (read.kind !== 'bytes') continue;
    files.push(
      name === `config/${ENV_FILE}` && !keys
        ? { name: SETTINGS_MEMBER, bytes: settingsOnly(read.bytes) }
        : { name, bytes: read.bytes },
    );
  }
  return { files, skipped };
}
