import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../clients/agents/agent.ts';
import { npmPackages } from '../../harness/npm-packages.ts';

const INSTALL_LIMIT_MS = 280_000;
const PROGRAM = 'node_modules/.bin/pi';

/** pi over `/v1/chat/completions`. */
export const pi: Agent = {
  title: 'pi',
  install: () => npmPackages({ name: 'pi', folder: import.meta.dirname, limitMs: INSTALL_LIMIT_MS }),
  configuration: 'pi',
  configure: (text, { home }) => {
    mkdirSync(join(home, '.pi', 'agent'), { recursive: true });
    writeFileSync(join(home, '.pi', 'agent', 'models.json'), text);
    return {};
  },
  env: { PI_OFFLINE: '1' },
  command: (prompt, { packages, model }) => [
    process.execPath,
    join(packages, PROGRAM),
    ...['-p', '--provider', 'svc', '--model', model, prompt],
  ],
  read: (path) => ({ name: 'read', args: { path } }),
  edit: (path, before, after) => ({
    name: 'edit',
    args: { path, edits: [{ oldText: before, newText: after }] },
  }),
  run: (command) => ({ name: 'bash', args: { command } }),
  readPdf: (path) => ({ name: 'read', args: { path } }),
  pdfText: 'Quarterly report',
};
