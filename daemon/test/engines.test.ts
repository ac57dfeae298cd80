/**
 * External programs and attached servers over a real port (docs/spec/contract.md#engines, docs/spec/contract.md#runners):
 * one slot file each, requests through /v1, and failures of the programs. e2e/system/engines tests the same with llama-server and whisper-server.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { writeOtherProgram } from '../slots/testing/other-program.ts';
import { isAlive } from './harness/descendants.ts';
import { startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { replyText, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, slot, waitForSlotState } from './harness/slots.ts';

const CHAT = '/v1/chat/completions';

const home = newHome();
let program: string;
/** Listens on a port that does not belong to the engine, and counts connections. */
let foreignServer: Server;
let foreignConnections = 0;

const list = (words: readonly string[]) => JSON.stringify(words);
const node = (...words: string[]) => list([process.execPath, program, ...words]);

function files(): Record<string, string> {
  const listen = ['--host', '{host}', '--port', '{port}'];
  return {
    'config/slots/agent.toml': 'autoload = false\nmodel = "chat"\n',
    'config/slots/other.toml': `engine = "custom"\nkey_env = "ENGINE_KEY"\ncommand = ${node(...listen, '--loading', '1')}\nmodel = "their-model"\n`,
    'config/slots/elsewhere.toml': `engine = "custom"\ncommand = ${node('--port', String(portOf(foreignServer)))}\n`,
    'config/slots/missing.toml': 'engine = "custom"\ncommand = ["no-such-program"]\n',
  };
}

beforeAll(async () => {
  program = writeOtherProgram(home);
  foreignServer = createServer((socket) => {
    foreignConnections += 1;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  await listenOnLoopback(foreignServer);
});
afterAll(() => void foreignServer?.close());
const gateway = new OneGateway(() => startGateway({ home, models: { chat: tinyChat() }, files: files() }));

const chat = (model: string) => {
  const body = { model, messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 16 };
  return send(gateway, 'POST', CHAT, { body });
};
const argvOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1');
const reasonOf = (record: SlotRecord) => record.failure?.reason;

describe('a custom engine', () => {
  it('serves its slot by slot name and model name, under its own name for the model', async () => {
    const response = await chat('other');
    expect(response.headers).toMatchObject({ 'x-svc-slot': 'other', 'x-svc-model': 'their-model' });
    expect(replyText(response)).toBe('Hello from another program. (their-model)');
    expect(replyText(await chat('their-model'))).toBe('Hello from another program. (their-model)');
    expect(await slot(gateway, 'other')).toMatchObject({
      engine: 'custom',
      runner: 'process',
      state: 'ready',
      tokens_per_second: expect.any(Number),
      memory_bytes: expect.any(Number),
    });
  });

  it('P03: killed, the slot fails with its reason, and the next load is clean', async () => {
    await chat('other');
    const { pid } = await slot(gateway, 'other');
    process.kill(pid as number, 'SIGKILL');
    const failed = await waitForSlotState(gateway, 'other', 'error');
    expect(reasonOf(failed)).toMatch(/^The engine was killed \(SIGKILL\)/);
    expect((await runSlotAction(gateway, 'other', 'load')).status).toBe(200);
    expect(replyText(await chat('other'))).toContain('Hello from another program.');
    expect((await slot(gateway, 'other')).pid).not.toBe(pid);
  });

  it('P02 whose port is used by another program fails, and that program gets no request', async () => {
    const response = await runSlotAction(gateway, 'elsewhere', 'load');
    expect([response.status, response.code]).toEqual([503, 'slot.failed']);
    const reason = 'Another program uses the port of the engine.';
    expect(reasonOf(await slot(gateway, 'elsewhere'))).toBe(reason);
    expect(foreignConnections).toBe(0);
  });

  it('that is not installed fails with the advice', async () => {
    expect((await runSlotAction(gateway, 'missing', 'load')).code).toBe('slot.failed');
    const reason = 'The program no-such-program was not found. Install it, or mend command.';
    expect(reasonOf(await slot(gateway, 'missing'))).toBe(reason);
  });

  it('P06: does not survive a killed gateway beyond its next start', async () => {
    await chat('other');
    const { pid } = await slot(gateway, 'other');
    await gateway.stop('SIGKILL');
    await gateway.replace(() => startGateway({ home }));
    await until(() => !isAlive(pid as number), 'the engine to end');
    expect(replyText(await chat('other'))).toContain('Hello from another program.');
  });
});

describe('an attached server', () => {
  const slotFile = (name: string, text: string) =>
    writeFileSync(join(home, 'config', 'slots', `${name}.toml`), text);
  const waitForSlot = (name: string) =>
    until(async () => (await send(gateway, 'GET', `/api/slots/${name}`)).status === 200, `slot ${name}`);
  const ATTACH = 'engine = "custom"\nrunner = "attach"\n';

  it('serves its slot, and keeps running after an unload', async () => {
    await chat('other');
    const { pid } = await slot(gateway, 'other');
    const words = argvOf(pid as number).split('\0');
    const port = words[words.indexOf('--port') + 1];
    const environ = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const key = environ.find((entry) => entry.startsWith('ENGINE_KEY='))?.slice('ENGINE_KEY='.length);
    writeFileSync(join(home, 'config', 'api.env'), `UPSTREAM_THEIRS=${key}\n`, { mode: 0o600 });
    slotFile(
      'far',
      `${ATTACH}url = "http://127.0.0.1:${port}"\nkey_env = "UPSTREAM_THEIRS"\nmodel = "far-model"\n`,
    );
    await waitForSlot('far');
    await until(async () => (await runSlotAction(gateway, 'far', 'load')).status === 200, 'slot far to load');
    const response = await chat('far');
    expect(replyText(response)).toBe('Hello from another program. (far-model)');
    expect(await slot(gateway, 'far')).toMatchObject({ runner: 'attach', device: 'remote', pid: null });
    expect((await runSlotAction(gateway, 'far', 'unload')).status).toBe(200);
    expect(isAlive(pid as number)).toBe(true);
  });

  it('at the address of the gateway is rejected', async () => {
    slotFile('self', `${ATTACH}url = "http://localhost:${gateway.port}"\nhealth = "/api/health"\n`);
    await waitForSlot('self');
    expect((await runSlotAction(gateway, 'self', 'load')).code).toBe('slot.failed');
    expect(reasonOf(await slot(gateway, 'self'))).toBe('The address of url is this gateway itself.');
  });

  it('at a metadata address makes no slot', async () => {
    slotFile('cloud', `${ATTACH}url = "http://169.254.169.254"\n`);
    await gateway.waitFor('link-local and unspecified addresses are never connected to');
    expect((await send(gateway, 'GET', '/api/slots/cloud')).status).toBe(404);
  });
});
