import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnvFile, setInEnvFile } from '../settings/env-file.ts';
import { ENV_FILE } from '../settings/env-layer.ts';
import { readFileCapped } from '../settings/read-file.ts';
import { isPlainSetting } from '../settings/secrets.ts';
import { isTomlFileName } from '../settings/toml-file-name.ts';
import {
  COMPANION_MEMBER,
  CONFIG_MEMBER,
  ENV_MEMBER,
  FILE_FOLDERS,
  maxBytesOf,
  SETTINGS_MEMBER,
} from './names.ts';

/** A configuration file with its name in a backup. */
export interface ConfigFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface ConfigFiles {
  readonly files: readonly ConfigFile[];
  /** Files that are not included, with the reason. */
  readonly skipped: readonly string[];
}

/** Returns the non-secret settings of api.env as an api.env: no comments, no keys, no unknown names. */
export function settingsOnly(env: Buffer): Buffer {
  let out: Buffer = Buffer.alloc(0);
  for (const [name, value] of parseEnvFile(env)) {
    if (isPlainSetting(name) && !/[\0-\x1f\x7f]/.test(value)) out = setInEnvFile(out, name, value);
  }
  return out;
}

/**
 * Returns an api.env with the settings of another one merged in. All other bytes, including the keys, stay
 * unchanged.
 */
export function withSettings(env: Buffer, settings: Buffer): Buffer {
  let out = env;
  for (const [name, value] of parseEnvFile(settings)) {
    if (isPlainSetting(name)) out = setInEnvFile(out, name, value);
  }
  return out;
}

/**
 * An unreadable folder is an error. Treating it as empty would let a restore mix its files with the restored
 * ones.
 */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.filter(isTomlFileName).sort();
}

/**
 * Returns the members that a configuration folder may have, with the existing files of `slots/` and
 * `upstreams/`. Rejects with system errors.
 */
export async function memberNames(config: string): Promise<string[]> {
  const inFolders = FILE_FOLDERS.map(async (folder) =>
    (await namesIn(join(config, folder))).map((name) => `config/${folder}/${name}`),
  );
  return [CONFIG_MEMBER, ENV_MEMBER, COMPANION_MEMBER, ...(await Promise.all(inFolders)).flat()];
}

/** Returns the path of a configuration member. */
export const pathOf = (config: string, member: string): string =>
  join(config, member.slice('config/'.length));

/**
 * Reads the files of a configuration folder that a backup contains. Skips an unreadable file with the reason.
 * Rejects like `memberNames`.
 */
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
