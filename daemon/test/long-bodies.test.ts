/** Bodies whose buffers are reused after their call: engines that still read them, and later calls. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { startGateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';

const MIB = 1 << 20;
const hashOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** The part of a body that the engine received. */
interface ReceivedBody {
  readonly complete: boolean;
  readonly bytes: Buffer;
}

/** Reads a body to its end or to the close of the socket, with a pause of `pauseMs` after the first chunk. */
function readBody(req: IncomingMessage, pauseMs = 0): Promise<ReceivedBody> {
  const parts: Buffer[] = [];
  const expectedLength = Number(req.headers['content-length']);
  let length = 0;
  return new Promise((resolve) => {
    const end = () => resolve({ complete: length === expectedLength, bytes: Buffer.concat(parts) });
    req.socket.once('close', end);
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (parts.push(chunk) === 1 && pauseMs > 0) {
        req.pause();
        setTimeout(() => req.resume(), pauseMs);
      }
      if (length < expectedLength) return;
      req.socket.off('close', end);
      end();
    });
  });
}

function respond(res: ServerResponse, content: string): void {
  const text = JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });
  res.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
/** Responds with the hash of the body. */
const answerWithHash: Handler = async (req, res) => respond(res, hashOf((await readBody(req)).bytes));

let handler: Handler = answerWithHash;
const received: ReceivedBody[] = [];
let engine: Server;
beforeAll(async () => {
  engine = createServer((req, res) => {
    req.on('error', () => {});
    if (req.method === 'POST') void handler(req, res);
    else respond(res, 'here');
  });
  await listenOnLoopback(engine);
});
afterAll(() => {
  engine?.closeAllConnections();
  engine?.close();
});
beforeEach(() => {
  handler = answerWithHash;
  received.length = 0;
});

const gateway = new OneGateway(() => {
  const url = `http://127.0.0.1:${portOf(engine)}`;
  const chat = `engine = "custom"\nrunner = "attach"\nurl = "${url}"\nautoload = true\nparallel = 16\n`;
  return startGateway({
    files: {
      'config/slots/agent.toml': `${chat}model = "agent"\n`,
      'config/slots/coder.toml': `${chat}model = "another-name"\n`,
    },
  });
});
beforeAll(async () => {
  await waitForSlotState(gateway, 'agent', 'ready');
  await waitForSlotState(gateway, 'coder', 'ready');
});

/** A chat of `bytes` bytes, and the body that the engine must receive. */
function chat(model: string, bytes: number, mark: string): { body: string; sent: string } {
  const bodyFor = (name: string) =>
    JSON.stringify({ model: name, messages: [{ role: 'user', content: mark.repeat(bytes / mark.length) }] });
  return { body: bodyFor(model), sent: bodyFor(model === 'coder' ? 'another-name' : model) };
}

const post = (path: string, body: string) =>
  send(gateway, 'POST', path, { body, headers: { 'content-type': 'application/json' } });
const replyOf = (text: string) =>
  (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

it.each(['agent', 'coder'])('%s: concurrent long bodies reach their engine unchanged', async (model) => {
  const chats = Array.from({ length: 12 }, (_, at) => chat(model, 2 * MIB, String.fromCharCode(97 + at)));
  for (let round = 0; round < 3; round++) {
    const responses = await Promise.all(chats.map(({ body }) => post('/v1/chat/completions', body)));
    expect(responses.map(({ text }) => replyOf(text))).toEqual(chats.map(({ sent }) => hashOf(sent)));
  }
});

it.each(['agent', 'coder'])('%s: an engine that responds early reads only its own body', async (model) => {
  handler = async (req, res) => {
    respond(res, 'early');
    received.push(await readBody(req, 300));
  };
  const { body, sent } = chat(model, 24 * MIB, 'early words ');
  const { status, text } = await post('/v1/chat/completions', body);
  expect([status, replyOf(text)]).toEqual([200, 'early']);
  await until(() => received.length === 1, 'the engine has read everything');
  const [{ complete, bytes }] = received as [ReceivedBody];
  expect(bytes.equals(Buffer.from(sent).subarray(0, bytes.length))).toBe(true);
  expect(complete).toBe(bytes.length === Buffer.byteLength(sent));
  // An edited body is sent in parts, and its connection is closed when the rest is not needed.
  expect(complete).toBe(model === 'agent');
  handler = answerWithHash;
  const next = chat(model, 4 * MIB, 'what comes next ');
  for (let round = 0; round < 3; round++) {
    expect(replyOf((await post('/v1/chat/completions', next.body)).text)).toBe(hashOf(next.sent));
  }
});

it('a disconnect does not affect other requests', async () => {
  handler = async (req, res) => {
    const { complete, bytes } = await readBody(req);
    if (complete) respond(res, hashOf(bytes));
  };
  const remaining = chat('agent', 4 * MIB, 'stays ');
  const disconnecting = chat('agent', 4 * MIB, 'leaves ');
  const disconnects = Array.from({ length: 8 }, async (_, at) => {
    const signal = AbortSignal.timeout(5 + at * 5);
    const url = `http://127.0.0.1:${gateway.port}/v1/chat/completions`;
    const headers = { 'content-type': 'application/json' };
    await fetch(url, { method: 'POST', body: disconnecting.body, headers, signal }).catch(() => {});
  });
  const remainingResponses = Array.from({ length: 4 }, () => post('/v1/chat/completions', remaining.body));
  expect((await Promise.all(remainingResponses)).map(({ text }) => replyOf(text))).toEqual(
    Array.from(remainingResponses, () => hashOf(remaining.sent)),
  );
  await Promise.all(disconnects);
  expect(replyOf((await post('/v1/chat/completions', remaining.body)).text)).toBe(hashOf(remaining.sent));
});

it.each([
  [
    '/v1/messages',
    (words: string) => ({ model: 'agent', max_tokens: 9, messages: [{ role: 'user', content: words }] }),
  ],
  ['/v1/responses', (words: string) => ({ model: 'agent', input: words })],
])('%s: a long request works, and an error that parses it', async (path, bodyOf) => {
  const words = 'long words '.repeat(MIB / 11);
  handler = async (req, res) => {
    const { messages } = JSON.parse(String((await readBody(req)).bytes)) as {
      messages: { content: unknown }[];
    };
    respond(res, JSON.stringify(messages.at(-1)?.content).includes(words) ? 'received' : 'not received');
  };
  for (let round = 0; round < 3; round++) {
    const { status, text } = await post(path, JSON.stringify(bodyOf(words)));
    expect(status, text).toBe(200);
    expect(text).toContain('"received"');
  }
  handler = async (req, res) => {
    await readBody(req);
    const error = {
      message: 'max_tokens: too many',
      type: 'invalid_request_error',
      param: 'max_tokens',
      code: null,
    };
    res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  };
  const refused = await post(path, JSON.stringify({ ...bodyOf(words), max_tokens: 9 }));
  expect(refused.status, refused.text).toBe(400);
  expect(refused.text).toContain('too many');
});
