import { npmPackages } from '../../harness/npm-packages.ts';

const INSTALL_LIMIT_MS = 280_000;

/** Returns the folder with the agents and SDKs of every run, installed from `package-lock.json`. Throws `Unavailable`. */
export const agentPackages = (): Promise<string> =>
  npmPackages({ name: 'agents', folder: import.meta.dirname, limitMs: INSTALL_LIMIT_MS });
