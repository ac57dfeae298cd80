import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../clients/agents/agent.ts';
import { npmPackages } from '../../harness/npm-packages.ts';

const INSTALL_LIMIT_MS = 280_000;
const PROGRAM = 'node_modules/.bin/cn';

/** Continue on the command line over `/v1/chat/completions`. */
export const continueCli: Agent = {
  title: 'Continue',
  install: () => npmPackages({ name: 'continue', folder: import.meta.dirname, limitMs: INSTALL_LIMIT_MS }),
  configuration: 'continue',
  configure: (text, { home }) => {
    mkdirSync(join(home, '.continue'));
    writeFileSync(join(home, '.continue', 'config.yaml'), text);
    return {};
  },
  env: { CONTINUE_TELEMETRY_ENABLED: '0' },
  command: (prompt, { packages, home }) => [
    process.execPath,
    join(packages, PROGRAM),
    ...['-p', '--auto', '--config', join(home, '.continue', 'config.yaml'), prompt],
  ],
  read: (path) => ({ name: 'Read', args: { filepath: path } }),
  edit: (path, before, after) => ({
    name: 'Edit',
    args: { file_path: path, old_string: before, new_string: after },
  }),
  run: (command) => ({ name: 'Bash', args: { command } }),
  readPdf: (path) => ({ name: 'Read', args: { filepath: path } }),
  pdfText: 'Quarterly report',
};
