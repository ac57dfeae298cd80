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
export function refusePython(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > 3 || (major === 3 && minor >= MIN_MINOR);
  return isNew ? null : `python3 is ${version}; install 3.${MIN_MINOR} or newer`;
}

/** Prints path and version; fails where `venv` cannot make environments with pip (Debian packages it separately). */
const PROBE = `import json, platform, sys, venv, ensurepip
print(json.dumps({"path": sys.executable, "version": platform.python_version()}))`;

/** Finds `python3` on the path. Throws `Unavailable` when it is absent, too old or lacks `venv`. */
export async function findPython(env: NodeJS.ProcessEnv = process.env): Promise<Python> {
  let text: string;
  try {
    text = await runProgram('python3', ['-c', PROBE], { limitMs: LIMIT_MS, env });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new Unavailable(`python3 with venv and pip is needed (${error.message})`);
  }
  const { path, version } = JSON.parse(text) as Python;
  const reason = refusePython(version);
  if (reason !== null) throw new Unavailable(reason);
  return { path, version: version.split('.').slice(0, 2).join('.') };
}
