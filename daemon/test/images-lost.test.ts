/**
 * Engines that end while they serve a request (docs/spec/contract.md#lost-engine) over a real port: an attached ComfyUI
 * (STAND-IN) and a program of the gateway.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { type ComfyStandIn, comfyStandIn } from './harness/comfy-stand-in.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { send } from './harness/http.ts';
import { IMAGES } from './harness/image-gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';

/** Prints an error and ends, or is killed, when it receives a chat. */
const PROGRAM = `
const http = require('node:http');
http.createServer((request, response) => {
  if (request.method === 'GET') return response.end('{}');
  request.on('data', (body) => {
    if (body.includes('KILL')) return process.kill(process.pid, 'SIGKILL');
    if (body.includes('REFUSE')) {
      console.error('ValueError: bad shape in /opt/engine/ops.py');
      return response.writeHead(500).end('no');
    }
    if (!body.includes('BREAK')) {
      response.setHeader('content-type', 'application/json');
      return response.end('{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}');
    }
    console.error('loading kernels');
    console.error('RuntimeError: no kernel image in /opt/engine/lib.so');
    setTimeout(() => process.exit(3), 50);
  });
}).listen(process.argv[2], '127.0.0.1');
`;

const home = newHome();
const PROGRAM_FILE = join(home, 'brief.cjs');
writeFileSync(PROGRAM_FILE, PROGRAM);

let comfy: ComfyStandIn;
beforeAll(async () => {
  comfy = await comfyStandIn();
});
afterAll(() => comfy?.stop());

const gateway = new OneGateway(() =>
  startLocked({
    home,
    files: {
      'config/slots/agent.toml': 'enabled = false\n',
      'config/slots/art.toml': `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "${comfy.url}"\nautoload = false\nmodel = "sdxl"\n`,
      'config/slots/brief.toml': `engine = "custom"\nautoload = false\ncommand = ${JSON.stringify([process.execPath, PROGRAM_FILE, '{port}'])}\nhealth = "/health"\nmodel = "their-model"\n`,
    },
  }),
);

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly slot?: string; readonly reason?: string; readonly log?: string[] };
}
const failureOf = (response: { json<T>(): T }): Failure => response.json<{ error: Failure }>().error;
async function slot(name: string): Promise<SlotRecord | undefined> {
  const { slots } = (await send(gateway, 'GET', '/api/slots', { key: CLIENT_KEY })).json<{
    slots: SlotRecord[];
  }>();
  return slots.find((each) => each.name === name);
}
const chat = (content: string, key: string) =>
  send(gateway, 'POST', '/v1/chat/completions', {
    body: { model: 'their-model', messages: [{ role: 'user', content }] },
    key,
  });

it('a program that ends is named with its reason; its output is for admins', async () => {
  const reason = 'The engine ended with code 3: RuntimeError: no kernel image in lib.so';
  const response = await chat('BREAK', ADMIN_KEY);
  expect(response.status).toBe(502);
  expect(failureOf(response)).toEqual({
    code: 'dispatch.upstream_unavailable',
    message: `Slot brief failed while it served this request: ${reason.replace('The', 'the')}`,
    details: { slot: 'brief', reason, log: ['RuntimeError: no kernel image in lib.so'] },
    type: 'server_error',
    param: null,
  });
  expect((await slot('brief'))?.state).toBe('error');
  await send(gateway, 'POST', '/api/slots/brief/load', { key: ADMIN_KEY });
  expect(failureOf(await chat('BREAK', CLIENT_KEY)).details).toEqual({ slot: 'brief', reason });
});

it('a killed program is not explained by older lines', async () => {
  await send(gateway, 'POST', '/api/slots/brief/load', { key: ADMIN_KEY });
  // The response of an engine may arrive before its output.
  await until(async () => {
    const refused = failureOf(await chat('REFUSE', ADMIN_KEY));
    expect(refused.message).toBe('Slot brief: no');
    return JSON.stringify(refused.details.log) === '["ValueError: bad shape in ops.py"]';
  }, 'the output of the engine in the details');
  const killed = failureOf(await chat('KILL', ADMIN_KEY));
  expect(killed.message).toBe(
    'Slot brief failed while it served this request: the engine was killed (SIGKILL), perhaps for lack of memory.',
  );
  expect(killed.details).not.toHaveProperty('log');
});

it('an attached server that ends is noticed at once', async () => {
  const draw = (prompt: string) =>
    send(gateway, 'POST', IMAGES, { body: { model: 'art', prompt, size: '64x64' }, key: CLIENT_KEY });
  expect((await draw('a cat')).status).toBe(200);
  const drawing = draw('HANG');
  await until(() => comfy.requests.at(-1)?.startsWith('GET /queue') ?? false, 'the job to be polled');
  await comfy.stop();
  const reason = 'Nothing listens at the address of url: the connection was refused.';
  const failure = failureOf(await drawing);
  expect(failure.message).toBe(
    'Slot art failed while it served this request: Nothing listens at the address of url: the connection was refused.',
  );
  expect(failure.details).toEqual({ slot: 'art', reason });
  expect(await slot('art')).toMatchObject({ state: 'error', failure: { reason } });
  const next = await draw('a cat');
  expect([next.status, failureOf(next).code]).toEqual([503, 'slot.failed']);
  expect(failureOf(next).message).toContain('Slot art failed: Nothing listens at the address of url');
});
