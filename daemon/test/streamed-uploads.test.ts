/** Recordings that go on to an engine while they come: what engines and senders may do in the middle of one. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { startGateway, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, slotIdle, slotState } from './harness/slots.ts';

const PATH = '/v1/audio/transcriptions';
const TYPE = 'multipart/form-data; boundary=xyz';
const MIB = 1 << 20;
const part = (name: string, more = '') =>
  Buffer.from(`--xyz\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`);
const HEAD = Buffer.concat([part('model'), Buffer.from('stt\r\n'), part('file', '; filename="a.wav"')]);
const END = Buffer.from('\r\n--xyz--\r\n');
const form = (bytes: number) => Buffer.concat([HEAD, Buffer.alloc(bytes, 'RIFF'), END]);

type Play = (req: IncomingMessage, res: ServerResponse) => void;
const text = (res: ServerResponse, words: string) =>
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text: words }));
/** An engine that hears the sum of what it was sent. */
const hears: Play = async (req, res) => {
  const hash = createHash('sha256');
  try {
    for await (const chunk of req) hash.update(chunk as Buffer);
    text(res, hash.digest('hex'));
  } catch {
    // Its sender has left.
  }
};
const sumOf = (body: Buffer) => createHash('sha256').update(body).digest('hex');

let play: Play = hears;
let engine: Server;
beforeAll(async () => {
  engine = createServer((req, res) => {
    req.on('error', () => {});
    if (req.method === 'POST') play(req, res);
    else text(res, 'here');
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
  await slotState(gateway, 'stt', 'ready');
});
beforeEach(() => {
  play = hears;
});

const post = (body: Buffer) => ask(gateway, 'POST', PATH, { body, headers: { 'content-type': TYPE } });
const free = () => slotIdle(gateway, 'stt');

/** Begins to send a form of so many bytes, and answers what it is told. */
function begin(length: number) {
  const headers = { 'content-type': TYPE, 'content-length': String(length) };
  const sending = request({ port: gateway.port, method: 'POST', path: PATH, headers });
  const status = new Promise<number>((resolve) => {
    sending.on('response', (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    sending.on('error', () => resolve(0));
  });
  return { sending, status };
}

/** One whole recording is heard: nothing of what went before has stayed. */
async function stillHears(): Promise<void> {
  play = hears;
  await free();
  const body = form(2 * MIB);
  expect((await post(body)).json()).toEqual({ text: sumOf(body) });
}

it.each([0, MIB / 2, 3 * MIB, 40 * MIB])('%i bytes arrive as they were sent', async (bytes) => {
  const body = form(bytes);
  expect((await post(body)).json()).toEqual({ text: sumOf(body) });
  await free();
});

it('the engine hears the first bytes before the last ones are sent', async () => {
  const heard = Promise.withResolvers<void>();
  play = (req, res) => {
    req.once('data', () => heard.resolve());
    hears(req, res);
  };
  const body = form(8 * MIB);
  const { sending, status } = begin(body.length);
  sending.write(body.subarray(0, 2 * MIB));
  await heard.promise;
  sending.end(body.subarray(2 * MIB));
  expect(await status).toBe(200);
});

it('an engine that refuses before it has read all: the caller is told, and the next one is heard', async () => {
  play = (_, res) => {
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ error: { message: 'too loud' } }));
  };
  expect((await post(form(30 * MIB))).status).toBe(400);
  await stillHears();
});

/** Sends a form as a client does that reads nothing before it has written all. */
async function writeThenRead(body: Buffer): Promise<{ answer: string; failed: Error[] }> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.pause();
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const failed: Error[] = [];
  socket.on('error', (error) => failed.push(error));
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: ${TYPE}\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body, () => socket.resume());
  await closed;
  return { answer, failed };
}

it('a refusal reaches one who reads nothing before he has written all', async () => {
  const body = Buffer.concat([part('model'), Buffer.from('other\r\n'), form(40 * MIB)]);
  const { answer, failed } = await writeThenRead(body);
  expect(failed).toEqual([]);
  expect(answer).toContain('HTTP/1.1 422');
});

it('an answer before the end reaches one who reads nothing before he has written all', async () => {
  play = (_, res) => {
    res.writeHead(429, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ error: { message: 'later', code: 'queue_full' } }));
  };
  const { answer, failed } = await writeThenRead(form(60 * MIB));
  expect(failed).toEqual([]);
  expect(answer).toContain('HTTP/1.1 429');
  expect(answer).toContain('queue_full');
  await stillHears();
});

/** Keeps the engine busy until it is called. */
async function busy(): Promise<() => void> {
  const asked = Promise.withResolvers<() => void>();
  play = (req, res) => {
    req.resume();
    asked.resolve(() => text(res, 'done'));
  };
  const { sending } = begin(form(MIB).length);
  sending.end(form(MIB));
  return asked.promise;
}

it('a form that is refused while it stands in line is told so at once, and leaves the line', async () => {
  const done = await busy();
  const body = Buffer.concat([
    form(5 * MIB).subarray(0, -END.length),
    Buffer.from('\r\n'),
    part('model'),
    Buffer.from('other'),
    END,
  ]);
  const { sending, status } = begin(body.length);
  sending.write(body.subarray(0, 3 * MIB));
  await until(async () => (await slot(gateway, 'stt')).queued === 1, 'the second one to stand in line');
  sending.end(body.subarray(3 * MIB));
  expect(await status).toBe(422);
  await until(async () => (await slot(gateway, 'stt')).queued === 0, 'the line to be empty');
  done();
  await stillHears();
});

it('one who waits for the engine has not to wait with his sending, and all of it is heard', async () => {
  const done = await busy();
  const body = form(30 * MIB);
  const answered = post(body);
  await until(async () => (await slot(gateway, 'stt')).queued === 1, 'the second one to stand in line');
  await sleep(300);
  play = hears;
  done();
  expect((await answered).json()).toEqual({ text: sumOf(body) });
});

it('an engine that dies in the middle is 502', async () => {
  play = (req) => void req.once('data', () => req.socket.destroy());
  expect(await post(form(30 * MIB))).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
  await stillHears();
});

it('a sender that stops in the middle has ten seconds', async () => {
  const { sending, status } = begin(40 * MIB);
  sending.write(form(6 * MIB).subarray(0, 5 * MIB));
  await until(async () => (await slot(gateway, 'stt')).active === 1, 'the engine to be asked');
  const drops = setInterval(() => sending.write('x'), 500);
  const since = performance.now();
  expect(await status).toBe(408);
  clearInterval(drops);
  expect(performance.now() - since).toBeLessThan(50_000);
  sending.destroy();
  await stillHears();
}, 60_000);

it('callers who leave in the middle, many at once, leave nothing behind', async () => {
  for (let n = 0; n < 20; n++) {
    const { sending } = begin(30 * MIB);
    sending.write(form(3 * MIB));
    await sleep(n);
    sending.destroy();
  }
  await stillHears();
});

it('single bytes in chunks of their own cost no more than they are', async () => {
  const body = form(200_000);
  const { promise, resolve } = Promise.withResolvers<string>();
  const sending = request(
    { port: gateway.port, method: 'POST', path: PATH, headers: { 'content-type': TYPE } },
    (res) => {
      let answer = '';
      res.on('data', (chunk: Buffer) => {
        answer += chunk.toString();
      });
      res.on('end', () => resolve(answer));
    },
  );
  sending.cork();
  for (const byte of body) sending.write(Buffer.from([byte]));
  sending.uncork();
  sending.end();
  expect(JSON.parse(await promise)).toEqual({ text: sumOf(body) });
}, 60_000);
