import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { CallerResponse } from '../caller.ts';
import { until } from '../testing/client.ts';
import { BODIES, finish, PATHS, type Path, RESPONSES, typesOf } from '../testing/dialects.ts';
import { closeAfterEach, delta, held, SSE } from '../testing/forwarding.ts';

closeAfterEach();

/** A caller that reads nothing until it is triggered. */
class BusyCaller extends Writable implements CallerResponse {
  text = '';
  #busy: (() => void) | null = () => {};

  constructor() {
    super({ highWaterMark: 1 });
  }

  setHeader(): this {
    return this;
  }

  removeHeader(): void {}

  writeHead(): this {
    return this;
  }

  flushHeaders(): void {}

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    if (this.#busy) this.#busy = done;
    else done();
  }

  take(): void {
    const held = this.#busy;
    this.#busy = null;
    held?.();
  }
}

async function call(path: Path, answer: string) {
  const { gateway, got } = await held();
  const caller = new BusyCaller();
  const served = gateway.inference[path === RESPONSES ? 'responses' : 'messages']({
    id: 'r',
    route: path === RESPONSES ? 'v1.responses' : 'v1.messages',
    path,
    tier: 'client',
    req: { headers: {}, url: path },
    res: caller,
    body: Buffer.from(JSON.stringify({ ...BODIES[path], stream: true })),
    receivedAt: performance.now(),
  });
  await until(() => got.length === 1);
  got[0]?.writeHead(200, SSE);
  got[0]?.end(answer);
  // Enough time for the whole response to arrive while the caller reads nothing.
  await new Promise((done) => setTimeout(done, 100));
  caller.take();
  await served;
  await until(() => caller.writableFinished);
  return { entry: gateway.log[0], types: typesOf(caller.text) };
}

describe.each(PATHS)('%s: a caller that has taken nothing when the engine ends', (path) => {
  const last = path === RESPONSES ? ['response.failed', 'error'] : ['error'];
  test.each([
    ['without an end', delta('one') + delta('two')],
    ['with an event that is no JSON', `${delta('one')}data: {oops\n\n`],
  ])('%s: the log knows what the caller will be told', async (_, answer) => {
    const { entry, types } = await call(path, answer);
    expect(entry).toMatchObject({ status: 200, error: 'upstream.error' });
    expect(last).toContain(types.at(-1));
  });

  test('completely: everything arrives later', async () => {
    const { entry, types } = await call(path, `${delta('one')}${finish('stop')}data: [DONE]\n\n`);
    expect(entry).toMatchObject({ status: 200, error: null });
    expect(types.at(-1)).toBe(path === RESPONSES ? 'response.completed' : 'message_stop');
  });
});
