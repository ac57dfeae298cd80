import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { tinyChat } from '../../daemon/models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../../daemon/models/testing/gguf/writer.ts';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { part } from '../../daemon/test/harness/test-tools.ts';
import { answers, type Machine, until200 } from './machine.ts';
import { type Target, target } from './targets.ts';

/** Only the contents of the messages: the end of the prompt determines the length of the answer. */
const TEMPLATE = '{%- for message in messages %}{{ message.content }}{%- endfor %}';

/** About 340 MB: real work for each token, and predictable answers. */
const SHAPE = { layers: 20, width: 1024, context: 8_192, template: TEMPLATE };
const PARALLEL = 4;
/** Fits a prompt of two thousand tokens and its answer. */
const CONTEXT = 2_304;
/** Threads of each engine. One core stays free for the client. */
const THREADS = Math.max(1, availableParallelism() - 1);

/** Starts llama-server, and the gateway with its embedded engine, on the same model. Returns none without llama-server. */
export async function startEngines(machine: Machine): Promise<Target[]> {
  const program = part('llama-server');
  if (program === null) return [];
  const home = join(machine.folder, 'engine-home');
  const folder = join(home, 'state', 'models');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const model = join(folder, 'bench.gguf');
  console.log(`writing a model of 340 MB; ${THREADS} threads for each engine …`);
  writeFileSync(model, encodeGguf(tinyChat(SHAPE)));
  return [await startTheirs(machine, program, model), await startEmbedded(machine, home)];
}

async function startTheirs(machine: Machine, program: string, model: string): Promise<Target> {
  const port = await freePort();
  const window = ['-c', String(CONTEXT * PARALLEL), '-np', String(PARALLEL), '--no-kv-unified'];
  const threads = ['-t', String(THREADS), '-tb', String(THREADS)];
  const listenOptions = ['--host', '127.0.0.1', '--port', String(port), '--no-ui', '-a', 'agent'];
  const pid = machine.start('all', [program, '-m', model, ...window, ...threads, ...listenOptions]);
  await until200(`http://127.0.0.1:${port}/health`);
  return target('llama.cpp', port, pid);
}

async function startEmbedded(machine: Machine, home: string): Promise<Target> {
  const port = await freePort();
  mkdirSync(join(home, 'config', 'slots'), { recursive: true, mode: 0o700 });
  writeFileSync(
    join(home, 'config', 'slots', 'agent.toml'),
    `model = "bench"\ndevice = "cpu"\nparallel = ${PARALLEL}\ncontext = ${CONTEXT}\n`,
  );
  const main = join(import.meta.dirname, '..', '..', 'dist', 'daemon', 'main.js');
  const pid = machine.start('all', [process.execPath, main], {
    SVC_HOME: home,
    SVC_PORT: String(port),
    SVC_CPU_THREADS: String(THREADS),
  });
  await answers(`http://127.0.0.1:${port}/api/health`);
  return target('ours', port, pid);
}
