import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHATML } from '../../daemon/models/testing/gguf/chat-templates.ts';
import { tinyChat } from '../../daemon/models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../../daemon/models/testing/gguf/writer.ts';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { answers, type Machine, until200 } from './machine.ts';
import { type Target, target } from './targets.ts';

/** A model that answers immediately, and one that processes prompts slowly. */
const MODELS = {
  quick: { context: 65_536 },
  slow: { template: CHATML, layers: 2, width: 1024, context: 16_384 },
} as const;

/** Each slot serves one request at a time; further requests wait. No load of `late` finishes. */
const SLOTS = {
  agent: 'model = "quick"\ncontext = 32768\n',
  reader: 'model = "slow"\ncontext = 16384\nautoload = true\n',
  late: 'model = "slow"\ncontext = 16384\nautoload = false\n',
} as const;

/** Starts the gateway with real engines and its default settings, without keys. */
export async function startAbortTarget(machine: Machine): Promise<Target> {
  const port = await freePort();
  const home = join(machine.folder, 'leave-home');
  const [models, slots] = [join(home, 'state', 'models'), join(home, 'config', 'slots')];
  for (const folder of [models, slots]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [id, shape] of Object.entries(MODELS)) {
    writeFileSync(join(models, `${id}.gguf`), encodeGguf(tinyChat(shape)));
  }
  for (const [name, file] of Object.entries(SLOTS)) {
    writeFileSync(join(slots, `${name}.toml`), `${file}device = "cpu"\nparallel = 1\n`);
  }
  const main = join(import.meta.dirname, '..', '..', 'dist', 'daemon', 'main.js');
  const pid = machine.start('all', [process.execPath, main], { SVC_HOME: home, SVC_PORT: String(port) });
  await answers(`http://127.0.0.1:${port}/api/health`);
  for (const slot of ['agent', 'reader']) await until200(`http://127.0.0.1:${port}/api/slots/${slot}`);
  return target('ours', port, pid);
}
