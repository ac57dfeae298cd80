import { join } from 'node:path';
import { pythonEnvironment } from '../harness/python-environment.ts';

const INSTALL_LIMIT_MS = 240_000;

/** Returns the interpreter with the Python clients that every run uses. Throws `Unavailable`. */
export const pythonClients = (): Promise<string> =>
  pythonEnvironment({
    name: 'clients',
    lock: join(import.meta.dirname, 'python-requirements.txt'),
    limitMs: INSTALL_LIMIT_MS,
  });
