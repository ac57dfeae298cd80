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
  /** What the gateway inherits. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What api.env says. */
  readonly apiEnv: ReadonlyMap<string, string>;
  /** The folder of config.toml. */
  readonly config: string;
  /** The variables that name the gateway's folders. */
  readonly folderEnv: Readonly<Record<string, string | undefined>>;
}

/** At once, and only a plain file: nobody waits for a pipe. */
function readSync(path: string): FileRead {
  try {
    const { mode, uid } = statSync(path);
    if ((mode & 0o170000) !== 0o100000) return { kind: 'unreadable', message: 'is not a regular file' };
    return { kind: 'bytes', bytes: readFileSync(path), mode: mode & 0o777, uid };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'unreadable', message: 'can not be read' };
  }
}

/** Null also where nothing names a folder, and where this user may not read it. */
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
 * Where the gateway of these files listens, by its own rules: what can be no value is none, and where config.toml is broken the last
 * good values stay. What this user may not read says nothing.
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
