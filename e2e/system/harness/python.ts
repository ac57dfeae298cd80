import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ProgramError, runProgram } from './program.ts';
import { Unavailable } from './unavailable.ts';

const MIN_MINOR = 10;
const LIMIT_MS = 20_000;

export interface Python {
  /** Path of the interpreter. */
  readonly path: string;
  /** For example `3.12`. */
  readonly version: string;
}

/** The reason why a Python of this version cannot be used, or null. `version` is for example `3.12.4`. */
export function refusePython(version: string, minMinor = MIN_MINOR): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > 3 || (major === 3 && minor >= minMinor);
  return isNew ? null : `python3 is ${version}; install 3.${minMinor} or newer`;
}

/** Prints path and version; fails where `venv` cannot make environments with pip (Debian packages it separately). */
const PROBE = `import json, platform, sys, venv, ensurepip
print(json.dumps({"path": sys.executable, "version": platform.python_version()}))`;

/** Names of newer interpreters beside `python3`: of the distribution, of uv. */
const NEWER = ['python3.12', 'python3.13', 'python3.14'];

/** Interpreters that pyenv has installed, which its shims hide unless they are selected. */
function pyenvPythons(env: NodeJS.ProcessEnv): string[] {
  const versions = join(env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  if (!existsSync(versions)) return [];
  return readdirSync(versions).map((version) => join(versions, version, 'bin', 'python3'));
}

async function probe(program: string, env: NodeJS.ProcessEnv): Promise<Python> {
  try {
    return JSON.parse(await runProgram(program, ['-c', PROBE], { limitMs: LIMIT_MS, env })) as Python;
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new Unavailable(`python3 with venv and pip is needed (${error.message})`);
  }
}

export interface PythonOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The oldest Python 3 that suits. */
  readonly minMinor?: number;
}

/**
 * Finds `python3` on the path, or a newer one on the path where that is too old. Throws `Unavailable` when it is absent, too old
 * or lacks `venv`.
 */
export async function findPython({
  env = process.env,
  minMinor = MIN_MINOR,
}: PythonOptions = {}): Promise<Python> {
  const first = await probe('python3', env);
  const reason = refusePython(first.version, minMinor);
  const others = reason === null ? [] : [...NEWER, ...pyenvPythons(env)];
  for (const program of others) {
    const found = await probe(program, env).catch(() => null);
    if (found !== null && refusePython(found.version, minMinor) === null) return shortened(found);
  }
  if (reason !== null) throw new Unavailable(reason);
  return shortened(first);
}

const shortened = ({ path, version }: Python): Python => ({
  path,
  version: version.split('.').slice(0, 2).join('.'),
});
