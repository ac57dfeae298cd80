import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from './catalogue.ts';
import { CONFIG_FILE } from './config-text.ts';
import { type ConfigMemory, evaluateText, lastGoodValues } from './config-values.ts';
import { folderPaths } from './folders.ts';
import { resolve } from './precedence.ts';
import type { FileRead } from './read-file.ts';
import { acceptedValues, LAST_GOOD_FILE } from './retained-values.ts';

export interface AddressSources {
  /** The environment of the gateway process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The variables of api.env. */
  readonly apiEnv: ReadonlyMap<string, string>;
  /** The folder of config.toml. */
  readonly config: string;
  /** The variables that determine the gateway's folders. */
  readonly folderEnv: Readonly<Record<string, string | undefined>>;
}

/** Reads synchronously and only a regular file, so that it never blocks on a pipe. */
function readSync(path: string): FileRead {
  try {
    const { mode, uid } = statSync(path);
    if ((mode & 0o170000) !== 0o100000) return { kind: 'unreadable', message: 'is not a regular file' };
    return { kind: 'bytes', bytes: readFileSync(path), mode: mode & 0o777, uid };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'unreadable', message: 'cannot be read' };
  }
}

/** Also returns null when no variable names a folder, or this user may not read it. */
function lastGood(folderEnv: AddressSources['folderEnv']): ReadonlyMap<string, unknown> | null {
  try {
    const read = readSync(join(folderPaths(folderEnv).state, LAST_GOOD_FILE));
    if (read.kind !== 'bytes') return null;
    const values: unknown = JSON.parse(read.bytes.toString('utf8'));
    return typeof values === 'object' && values !== null ? acceptedValues({ ...values }) : null;
  } catch {
    return null;
  }
}

function configValues(folder: string, memory: ConfigMemory): ReadonlyMap<string, unknown> {
  const judged = evaluateText(readSync(join(folder, CONFIG_FILE)), memory);
  if (judged.state === 'missing') return new Map();
  return judged.state === 'good' ? judged.values : lastGoodValues(memory);
}

/**
 * Returns the listen address of a gateway with these files, by its own rules: invalid values are ignored, and
 * when config.toml is invalid the last good values apply. Files that this user may not read are ignored.
 */
export function configuredAddress({ env, apiEnv, config, folderEnv }: AddressSources): {
  host: string;
  port: number;
} {
  const toml = configValues(config, { lastGood: lastGood(folderEnv), enforced: false });
  const sources = {
    fileEnv: apiEnv,
    everInFile: new Set<string>(),
    unread: new Set<string>(),
    inheritedEnv: env,
    toml,
  };
  return { host: resolve(SETTINGS.bindHost, sources).value, port: resolve(SETTINGS.port, sources).value };
}
