/**
 * Tests the engine API client with recorded responses of Podman 4.3.1, reduced to a few fields, over a unix
 * socket. e2e/system/engines/podman-api.test.ts tests it with a real Podman.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Outbound } from '../net/outbound.ts';
import { scratch } from '../testing/scratch.ts';
import { ContainerEngine } from './container-engine.ts';

interface Captured {
  readonly call: string;
  readonly status: number;
  readonly json?: unknown;
  /** A body that is not a single JSON value, one character per byte. */
  readonly text?: string;
}

const FILE = join(import.meta.dirname, 'fixtures', 'podman-4.3.1.json');
const ID = '350152d283fded33969dd8a87816af25ba226b33df3c6da8c8f565cad7cf7921';
const LABELS = { 'test.owner': 'me', 'test.slot': 'a b' };
const neverAborted = new AbortController().signal;

let outbound: Outbound;
let server: Server;
let socketPath: string;
/** Request bodies by call. */
let sent: Map<string, string>;

beforeEach(async () => {
  outbound = new Outbound({ connectMs: () => 2000 });
  socketPath = join(scratch(), 's');
  sent = new Map();
  const remaining = JSON.parse(readFileSync(FILE, 'utf8')) as Captured[];
  // Returns the responses of each call in the order in which Podman sent them.
  server = createServer(async (req, res) => {
    const call = `${req.method} ${req.url}`;
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    sent.set(call, Buffer.concat(chunks).toString());
    const at = remaining.findIndex((each) => each.call === call);
    const [answer] = at < 0 ? [] : remaining.splice(at, 1);
    if (answer === undefined) return void res.writeHead(501).end(`{"message":"not captured: ${call}"}`);
    const body = answer.json === undefined ? (answer.text ?? '') : `${JSON.stringify(answer.json)}\n`;
    res.writeHead(answer.status).end(Buffer.from(body, 'latin1'));
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await outbound.close();
});

const connect = () => ContainerEngine.connect(outbound, socketPath);

test('reports an absent engine', async () => {
  await expect(ContainerEngine.connect(outbound, '/nowhere/s')).rejects.toMatchObject({
    name: 'ContainerEngineError',
    code: 'ENOENT',
    message: expect.stringContaining('its socket is absent'),
  });
});

test("reads the engine's properties", async () => {
  const { info } = await connect();
  expect(info).toMatchObject({ kind: 'podman', version: '4.3.1', api: '1.41', rootless: false, cdi: false });
  expect(info.runtimes).toContain('runc');
});

test('a present image, an absent image, and a pull that fails inside a 200 response', async () => {
  const engine = await connect();
  expect(await engine.hasImage('localhost/stand-in')).toBe(true);
  expect(await engine.hasImage('localhost:1/absent')).toBe(false);
  const options = { signal: neverAborted, limitMs: 5000, onProgress: () => {} };
  await expect(engine.pull('localhost:1/absent', options)).rejects.toThrow(/localhost:1.*connection refused/);
});

test('the life cycle of a container', async () => {
  const engine = await connect();
  const body = { Image: 'localhost/stand-in', Labels: LABELS };
  expect(await engine.create('svc-life', body)).toBe(ID);
  expect(JSON.parse(sent.get('POST /v1.41/containers/create?name=svc-life') ?? '')).toEqual(body);
  expect(await engine.inspect(ID)).toMatchObject({ id: ID, running: false, pid: 0 });
  await engine.start(ID);
  // 304: already running.
  await engine.start(ID);
  const state = await engine.inspect(ID);
  expect(state).toMatchObject({ running: true, labels: LABELS, outOfMemory: false, error: '' });
  expect(state?.pid).toBeGreaterThan(0);
  expect(state?.ports['8080/tcp']).toBeGreaterThan(0);
  expect(await engine.list(LABELS)).toEqual([
    { id: ID, running: true, labels: expect.objectContaining(LABELS) },
  ]);
  expect(await engine.list({ 'test.owner': 'you' })).toEqual([]);
  await engine.stop(ID, 5000);
  await engine.stop(ID, 5000);
  let output = '';
  const onOutput = (bytes: Buffer) => {
    output += bytes;
  };
  await engine.follow(ID, { signal: neverAborted, limitMs: 5000, tail: 10, isLive: true, onOutput });
  expect(output).toBe('listening\n');
  await engine.wait(ID, 5000);
  expect(await engine.inspect(ID)).toMatchObject({ running: false, exitCode: 0 });
  await engine.remove(ID);
  expect(await engine.inspect(ID)).toBeNull();
  // 404 each: a missing container has ended.
  await engine.remove(ID);
  await engine.stop(ID, 1000);
  await engine.wait(ID, 5000);
});

test("a refusal contains the engine's message", async () => {
  const engine = await connect();
  await expect(engine.create('svc-none', { Image: 'localhost/absent' })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('no such image: localhost/absent'),
  });
});
