import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { encodeGguf, str } from '../../models/testing/gguf/writer.ts';
import { WORKER_EXIT, type WorkerConfig } from './protocol.ts';
import { forkWorker, modelFile } from './testing/forked-worker.ts';

/** Returns the reason with which a worker for this file fails. */
async function failure(
  model: Parameters<typeof modelFile>[0],
  config: Partial<WorkerConfig> = {},
  limit: (pid: number) => Promise<unknown> = async () => undefined,
): Promise<string> {
  const file = await modelFile(model);
  const worker = await forkWorker(file.path, config);
  await limit(worker.child.pid as number);
  try {
    return await worker.ready.then(
      () => 'it loaded',
      (error: Error) => error.message,
    );
  } finally {
    expect((await worker.exited).code).toBe(WORKER_EXIT.failed);
    await file.remove();
  }
}

const whole = encodeGguf(tinyChat());
const strange = tinyChat();

test.each([
  [
    'a template that throws',
    tinyChat({ template: "{{ raise_exception('roles are missing') }}" }),
    'chat template of this model failed: roles are missing',
  ],
  ['an invalid template', tinyChat({ template: '{% for x in' }), 'chat template of this model failed'],
  [
    'an unknown architecture',
    { ...strange, keys: { ...strange.keys, 'general.architecture': str('quux') } },
    'quux',
  ],
  ['a truncated file', whole.subarray(0, whole.length - 100_000), 'data is not within the file bounds'],
  ['a truncated header', whole.subarray(0, 2_000), 'model.gguf'],
  ['no model at all', Buffer.from('this is no model, but a text of some length'), 'model.gguf'],
])(
  '%s fails with the actual reason',
  async (_, model, reason) => {
    const message = await failure(model);
    expect(message).toContain(reason);
    expect(message).not.toContain('\n');
    expect(message).not.toContain('/');
  },
  30_000,
);

const PRLIMIT = '/usr/bin/prlimit';

test.skipIf(!existsSync(PRLIMIT))(
  'reports what did not fit when the window exceeds the memory',
  async () => {
    // 32 layers need 8 KB per token: 8 GB, and the process may use 3.
    const limited = (pid: number) =>
      promisify(execFile)(PRLIMIT, ['--pid', String(pid), '--data=3000000000']);
    expect(await failure(tinyChat({ layers: 32 }), { context: 2 ** 20, parallel: 1 }, limited)).toContain(
      'insufficient memory (attempted to allocate 8192.00 MB)',
    );
  },
  60_000,
);
