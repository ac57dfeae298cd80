import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { agentPackages } from './packages.ts';

const PROGRAM = 'node_modules/@openai/codex/bin/codex.js';
const PDF_SERVER = join(import.meta.dirname, 'pdf-server.mjs');
/** Without them each start waits five seconds for other machines. */
const OFF = ['features.plugins=false', 'analytics.enabled=false', 'check_for_update_on_startup=false'];

const shell = (cmd: string) => ({ name: 'exec_command', args: { cmd, login: false } });

/** Codex over `/v1/responses`. */
export const codex: Agent = {
  title: 'Codex',
  install: agentPackages,
  configuration: 'codex',
  configure: (text, { home }) => {
    const server = `[mcp_servers.files]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(PDF_SERVER)}]\n`;
    mkdirSync(join(home, '.codex'), { recursive: true });
    writeFileSync(join(home, '.codex', 'config.toml'), `${text}\n${server}`);
    return {};
  },
  env: {},
  command: (prompt, { packages }) => [
    process.execPath,
    join(packages, PROGRAM),
    'exec',
    // As its terminal UI, and unlike its plain output, it shows the reason of each repetition.
    '--json',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    ...OFF.flatMap((setting) => ['-c', setting]),
    prompt,
  ],
  read: (path) => shell(`cat ${path}`),
  edit: (path, before, after) =>
    shell(
      `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${path}\n@@\n-${before}\n+${after}\n*** End Patch\nEOF`,
    ),
  run: shell,
  readPdf: (path) => ({ name: 'mcp__files__read_pdf', args: { path } }),
  pdfText: 'application/pdf',
};
