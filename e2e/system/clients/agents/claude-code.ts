import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { agentPackages } from './packages.ts';

const PROGRAM = `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;
const EXPORT = /^export (\w+)=(.*)$/;

/** Claude Code over `/v1/messages`. */
export const claudeCode: Agent = {
  title: 'Claude Code',
  install: agentPackages,
  configuration: 'claude-code',
  // The printed configuration is read by a shell, which fills in the key.
  configure: (text) => {
    const lines = text.split('\n').map((line) => EXPORT.exec(line));
    return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1] ?? '', found[2] ?? '']] : [])));
  },
  // IS_SANDBOX: it refuses to run as root without questions otherwise.
  env: { IS_SANDBOX: '1', DISABLE_AUTOUPDATER: '1' },
  command: (prompt, { packages }) => [
    join(packages, PROGRAM),
    '-p',
    '--dangerously-skip-permissions',
    prompt,
  ],
  read: (path) => ({ name: 'Read', args: { file_path: path } }),
  edit: (path, before, after) => ({
    name: 'Edit',
    args: { file_path: path, old_string: before, new_string: after },
  }),
  run: (command) => ({ name: 'Bash', args: { command, description: 'Run a command' } }),
  readPdf: (path) => ({ name: 'Read', args: { file_path: path } }),
  pdfText: '[A PDF document that this model cannot read.',
};
