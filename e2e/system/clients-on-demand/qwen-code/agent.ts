import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../clients/agents/agent.ts';
import { npmPackages } from '../../harness/npm-packages.ts';

const INSTALL_LIMIT_MS = 280_000;
const PROGRAM = 'node_modules/.bin/qwen';

/** qwen-code over `/v1/chat/completions`. */
export const qwenCode: Agent = {
  title: 'qwen-code',
  install: () => npmPackages({ name: 'qwen-code', folder: import.meta.dirname, limitMs: INSTALL_LIMIT_MS }),
  configuration: 'qwen-code',
  configure: (text, { home }) => {
    mkdirSync(join(home, '.qwen'));
    writeFileSync(join(home, '.qwen', 'settings.json'), text);
    return {};
  },
  env: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  command: (prompt, { packages }) => [
    process.execPath,
    join(packages, PROGRAM),
    ...['--approval-mode', 'yolo', '-p', prompt],
  ],
  read: (path) => ({ name: 'read_file', args: { file_path: path } }),
  edit: (path, before, after) => ({
    name: 'edit',
    args: { file_path: path, old_string: before, new_string: after },
  }),
  run: (command) => ({ name: 'run_shell_command', args: { command, is_background: false } }),
  readPdf: (path) => ({ name: 'read_file', args: { file_path: path } }),
  pdfText: 'pdf',
};
