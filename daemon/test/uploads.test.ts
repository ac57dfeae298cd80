/** Recordings: what engines and senders may do during an upload. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RequestsView } from '../contract/system.ts';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { type Gateway, QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';
import { slot, waitForIdleSlot, waitForSlotState } from './harness/slots.ts';

const PATH = '/v1/audio/transcriptions';
const TYPE = 'multipart/form-data; boundary=xyz';
const MIB = 1 << 20;
const part = (name: string, more = '') =>
  Buffer.from(`--xyz\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`);
const HEAD = Buffer.concat([part('model'), Buffer.from('stt\r\n'), part('file', '; filename="a.wav"')]);
const END = Buffer.from('\r\n--xyz--\r\n');
const form = (bytes: number) => Buffer.concat([HEAD, Buffer.alloc(bytes, 'RIFF'), END]);

type Handler = (req: IncomingMessage, res: ServerResponse) => void;
const sendText = (res: ServerResponse, words: string) =>
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text: words }));
/** An engine that returns the hash of the body. */
const answerWithHash: Handler = async (req, res) => {
  const hash = createHash('sha256');
  try {
    for await (const chunk of req) hash.update(chunk as Buffer);
    sendText(res, hash.digest('hex'));
  } catch {
    // The sender disconnected.
  }
};
const hashOf = (body: Buffer) => createHash('sha256').update(body).digest('hex');

let handler: Handler = answerWithHash;
let engine: Server;
beforeAll(async () => {
  engine = createServer((req, res) => {
    req.on('error', () => {});
    if (req.method === 'POST') handler(req, res);
    else sendText(res, 'here');
  });
  await listenOnLoopback(engine);
});
afterAll(() => {
  engine?.closeAllConnections();
  engine?.close();
});
const gateway = new OneGateway(() => {
  const url = `http://127.0.0.1:${portOf(engine)}`;
  const stt = `type = "stt"\nengine = "custom"\nrunner = "attach"\nurl = "${url}"\nautoload = true\nparallel = 1\n`;
  return startGateway({ files: { 'config/slots/stt.toml': stt } });
});
beforeAll(async () => {
  await waitForSlotState(gateway, 'stt', 'ready');
});
beforeEach(() => {
  handler = answerWithHash;
});

const post = (body: Buffer) => send(gateway, 'POST', PATH, { body, headers: { 'content-type': TYPE } });
const waitForIdle = () => waitForIdleSlot(gateway, 'stt');

/** Starts to send a form of `length` bytes. `status` resolves to the response status. */
function startUpload(length: number, at: Pick<Gateway, 'port'> = gateway) {
  const headers = { 'content-type': TYPE, 'content-length': String(length) };
  const sending = request({ port: at.port, method: 'POST', path: PATH, headers });
  const status = new Promise<number>((resolve) => {
    sending.on('response', (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    sending.on('error', () => resolve(0));
  });
  return { sending, status };
}

/** Expects that a complete recording is transcribed: nothing of the earlier one remains. */
async function expectStillWorks(): Promise<void> {
  handler = answerWithHash;
  await waitForIdle();
  const body = form(2 * MIB);
  expect((await post(body)).json()).toEqual({ text: hashOf(body) });
}

it.each([0, MIB / 2, 3 * MIB, 40 * MIB])('%i bytes arrive unchanged', async (bytes) => {
  const body = form(bytes);
  expect((await post(body)).json()).toEqual({ text: hashOf(body) });
  await waitForIdle();
});

it('a sender that is still sending does not occupy the engine', async () => {
  const body = form(8 * MIB);
  const { sending, status } = startUpload(body.length);
  sending.write(body.subarray(0, 5 * MIB));
  expect((await post(form(MIB))).json()).toEqual({ text: hashOf(form(MIB)) });
  expect((await slot(gateway, 'stt')).active).toBe(0);
  sending.end(body.subarray(5 * MIB));
  expect(await status).toBe(200);
});

it('an engine that rejects the upload early: the caller gets the error, and the next upload works', async () => {
  handler = (_, res) => {
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ error: { message: 'too loud' } }));
  };
  expect((await post(form(30 * MIB))).status).toBe(400);
  await expectStillWorks();
});

/** Sends a form like a client that reads nothing before it has written everything. */
async function writeThenRead(
  body: Buffer,
  at: Pick<Gateway, 'port'> = gateway,
): Promise<{ response: string; errors: Error[] }> {
  const socket = connect(at.port, '127.0.0.1');
  socket.pause();
  let response = '';
  socket.on('data', (chunk: Buffer) => {
    response += chunk.toString();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: ${TYPE}\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body, () => socket.resume());
  await closed;
  return { response, errors };
}

it('an error reaches a client that reads only after it has written everything', async () => {
  const body = Buffer.concat([part('model'), Buffer.from('other\r\n'), form(40 * MIB)]);
  const { response, errors } = await writeThenRead(body);
  expect(errors).toEqual([]);
  expect(response).toContain('HTTP/1.1 422');
});

/** Expects that a model is refused after its field and before its recording. */
async function expectEarlyRefusal(at: Gateway, model: string, status: number, code: string): Promise<void> {
  const field = Buffer.concat([part('model'), Buffer.from(`${model}\r\n`)]);
  const body = Buffer.concat([field, part('file'), Buffer.alloc(40 * MIB), END]);
  // Not sent to its end: only a refusal that does not wait for it gives a status.
  const { sending, status: refused } = startUpload(body.length, at);
  sending.write(body.subarray(0, 2 * MIB));
  expect(await refused).toBe(status);
  sending.destroy();
  // A client that writes everything first gets it too.
  const { response, errors } = await writeThenRead(body, at);
  expect(errors).toEqual([]);
  expect(response).toContain(`HTTP/1.1 ${status}`);
  expect(response).toContain(`"code":"${code}"`);
  const { recent } = (await send(at, 'GET', '/api/requests?limit=1')).json<RequestsView>();
  expect(recent).toMatchObject([{ route: PATH, status, error: code }]);
}

it('a model that does not transcribe is refused before the recording', async () => {
  await expectEarlyRefusal(gateway, 'agent', 409, 'dispatch.capability_mismatch');
  await expectStillWorks();
});

it('a model that nothing serves is refused before the recording', async () => {
  const without = await forTest(startGateway({ files: QUIET_FILE }));
  await expectEarlyRefusal(without, 'missing-model', 404, 'dispatch.no_route');
});

it('an early response reaches a client that reads only after it has written everything', async () => {
  handler = (_, res) => {
    res.writeHead(429, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ error: { message: 'later', code: 'queue_full' } }));
  };
  const { response, errors } = await writeThenRead(form(60 * MIB));
  expect(errors).toEqual([]);
  expect(response).toContain('HTTP/1.1 429');
  expect(response).toContain('queue_full');
  await expectStillWorks();
});

/** Makes the engine busy. Returns a function that ends it. */
async function makeEngineBusy(): Promise<() => void> {
  const received = Promise.withResolvers<() => void>();
  handler = (req, res) => {
    req.resume();
    received.resolve(() => sendText(res, 'done'));
  };
  const { sending } = startUpload(form(MIB).length);
  sending.end(form(MIB));
  return received.promise;
}

it('a recording that waited for the engine is forwarded completely', async () => {
  const done = await makeEngineBusy();
  const body = form(30 * MIB);
  const responding = post(body);
  await until(async () => (await slot(gateway, 'stt')).queued === 1, 'the second request to be queued');
  handler = answerWithHash;
  done();
  expect((await responding).json()).toEqual({ text: hashOf(body) });
});

it('an engine that dies during an upload is 502', async () => {
  handler = (req) => void req.once('data', () => req.socket.destroy());
  expect(await post(form(30 * MIB))).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
  await expectStillWorks();
});

it('many clients that disconnect during an upload leave nothing behind', async () => {
  for (let n = 0; n < 20; n++) {
    const { sending } = startUpload(30 * MIB);
    sending.write(form(3 * MIB));
    await sleep(n);
    sending.destroy();
  }
  await expectStillWorks();
});

it('chunks of a single byte are accepted', async () => {
  const body = form(200_000);
  const { promise, resolve } = Promise.withResolvers<string>();
  const sending = request(
    { port: gateway.port, method: 'POST', path: PATH, headers: { 'content-type': TYPE } },
    (res) => {
      let response = '';
      res.on('data', (chunk: Buffer) => {
        response += chunk.toString();
      });
      res.on('end', () => resolve(response));
    },
  );
  sending.cork();
  for (const byte of body) sending.write(Buffer.from([byte]));
  sending.uncork();
  sending.end();
  expect(JSON.parse(await promise)).toEqual({ text: hashOf(body) });
}, 60_000);
