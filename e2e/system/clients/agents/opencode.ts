import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { agentPackages } from './packages.ts';

const PROGRAM = `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`;

/** opencode over `/v1/chat/completions`. */
export const opencode: Agent = {
  title: 'opencode',
  install: agentPackages,
  configuration: 'opencode',
  configure: (text, { work }) => {
    writeFileSync(join(work, 'opencode.json'), text);
    return {};
  },
  env: {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  },
  command: (prompt, { packages }) => [join(packages, PROGRAM), 'run', prompt],
  read: (path) => ({ name: 'read', args: { filePath: path } }),
  edit: (path, before, after) => ({
    name: 'edit',
    args: { filePath: path, oldString: before, newString: after },
  }),
  run: (command) => ({ name: 'bash', args: { command, description: 'Run a command' } }),
  readPdf: (path) => ({ name: 'read', args: { filePath: path } }),
  pdfText: 'this model does not support pdf input',
};
