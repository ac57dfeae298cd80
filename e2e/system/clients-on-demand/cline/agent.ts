import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Agent } from '../../clients/agents/agent.ts';
import { npmPackages } from '../../harness/npm-packages.ts';

const INSTALL_LIMIT_MS = 280_000;
const PROGRAM = 'node_modules/.bin/cline';

/** Cline on the command line over `/v1/chat/completions`. */
export const cline: Agent = {
  title: 'Cline',
  install: () => npmPackages({ name: 'cline', folder: import.meta.dirname, limitMs: INSTALL_LIMIT_MS }),
  configuration: 'cline',
  // The printed configuration is a command, with the key in a variable.
  configure: (text, { home, packages }) => {
    writeFileSync(join(home, 'configure.sh'), text);
    return { PATH: `${join(packages, 'node_modules', '.bin')}${delimiter}${process.env.PATH}` };
  },
  env: {},
  command: (prompt, { packages }) => [
    'sh',
    '-c',
    '. "$HOME/configure.sh" && exec "$@"',
    'sh',
    ...[join(packages, PROGRAM), prompt],
  ],
  read: (path) => ({ name: 'read_files', args: { files: [{ path }] } }),
  edit: (path, before, after) => ({ name: 'editor', args: { path, old_text: before, new_text: after } }),
  run: (command) => ({ name: 'run_commands', args: { commands: [command] } }),
  readPdf: (path) => ({ name: 'read_files', args: { files: [{ path }] } }),
  pdfText: 'pdf',
};
