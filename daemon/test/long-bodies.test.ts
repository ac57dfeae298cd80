/** Bodies whose memory is given back once their call is over: what engines may still read of them, and what comes after. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { startGateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';

const MIB = 1 << 20;
const sumOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** What the engine was sent, as far as it came. */
interface Heard {
  readonly whole: boolean;
  readonly bytes: Buffer;
}

/** Rests so many milliseconds once it has begun, and goes on after its answer is out, until all is here or its socket closes. */
function hear(req: IncomingMessage, restMs = 0): Promise<Heard> {
  const parts: Buffer[] = [];
  const wanted = Number(req.headers['content-length']);
  let length = 0;
  return new Promise((resolve) => {
    const end = () => resolve({ whole: length === wanted, bytes: Buffer.concat(parts) });
    req.socket.once('close', end);
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (parts.push(chunk) === 1 && restMs > 0) {
        req.pause();
        setTimeout(() => req.resume(), restMs);
      }
      if (length < wanted) return;
      req.socket.off('close', end);
      end();
    });
  });
}

function say(res: ServerResponse, content: string): void {
  const text = JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });
  res.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

type Play = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
/** Tells the sum of what it was sent. */
const tellsSum: Play = async (req, res) => say(res, sumOf((await hear(req)).bytes));

let play: Play = tellsSum;
const heard: Heard[] = [];
let engine: Server;
beforeAll(async () => {
  engine = createServer((req, res) => {
    req.on('error', () => {});
    if (req.method === 'POST') void play(req, res);
    else say(res, 'here');
  });
  await listenOnLoopback(engine);
});
afterAll(() => {
  engine?.closeAllConnections();
  engine?.close();
});
beforeEach(() => {
  play = tellsSum;
  heard.length = 0;
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

/** A chat of so many bytes, and what its engine is to be sent. */
function chat(model: string, bytes: number, mark: string): { body: string; sent: string } {
  const of = (name: string) =>
    JSON.stringify({ model: name, messages: [{ role: 'user', content: mark.repeat(bytes / mark.length) }] });
  return { body: of(model), sent: of(model === 'coder' ? 'another-name' : model) };
}

const post = (path: string, body: string) =>
  send(gateway, 'POST', path, { body, headers: { 'content-type': 'application/json' } });
const wordsOf = (text: string) =>
  (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

it.each(['agent', 'coder'])(
  '%s: long bodies side by side reach their engine each as it was sent',
  async (model) => {
    const chats = Array.from({ length: 12 }, (_, at) => chat(model, 2 * MIB, String.fromCharCode(97 + at)));
    for (let round = 0; round < 3; round++) {
      const responses = await Promise.all(chats.map(({ body }) => post('/v1/chat/completions', body)));
      expect(responses.map(({ text }) => wordsOf(text))).toEqual(chats.map(({ sent }) => sumOf(sent)));
    }
  },
);

it.each(['agent', 'coder'])(
  '%s: an engine that answers before it has read hears nothing else',
  async (model) => {
    play = async (req, res) => {
      say(res, 'early');
      heard.push(await hear(req, 300));
    };
    const { body, sent } = chat(model, 24 * MIB, 'early words ');
    const { status, text } = await post('/v1/chat/completions', body);
    expect([status, wordsOf(text)]).toEqual([200, 'early']);
    await until(() => heard.length === 1, 'the engine has heard all');
    const [{ whole, bytes }] = heard as [Heard];
    expect(bytes.equals(Buffer.from(sent).subarray(0, bytes.length))).toBe(true);
    expect(whole).toBe(bytes.length === Buffer.byteLength(sent));
    // A body that was edited is on its way in parts: its connection is cut once nobody needs the rest.
    expect(whole).toBe(model === 'agent');
    play = tellsSum;
    const next = chat(model, 4 * MIB, 'what comes next ');
    for (let round = 0; round < 3; round++) {
      expect(wordsOf((await post('/v1/chat/completions', next.body)).text)).toBe(sumOf(next.sent));
    }
  },
);

it('a caller who leaves takes nothing from those who stay', async () => {
  play = async (req, res) => {
    const { whole, bytes } = await hear(req);
    if (whole) say(res, sumOf(bytes));
  };
  const stays = chat('agent', 4 * MIB, 'stays ');
  const leaves = chat('agent', 4 * MIB, 'leaves ');
  const leaving = Array.from({ length: 8 }, async (_, at) => {
    const signal = AbortSignal.timeout(5 + at * 5);
    const url = `http://127.0.0.1:${gateway.port}/v1/chat/completions`;
    const headers = { 'content-type': 'application/json' };
    await fetch(url, { method: 'POST', body: leaves.body, headers, signal }).catch(() => {});
  });
  const staying = Array.from({ length: 4 }, () => post('/v1/chat/completions', stays.body));
  expect((await Promise.all(staying)).map(({ text }) => wordsOf(text))).toEqual(
    Array.from(staying, () => sumOf(stays.sent)),
  );
  await Promise.all(leaving);
  expect(wordsOf((await post('/v1/chat/completions', stays.body)).text)).toBe(sumOf(stays.sent));
});

it.each([
  [
    '/v1/messages',
    (words: string) => ({ model: 'agent', max_tokens: 9, messages: [{ role: 'user', content: words }] }),
  ],
  ['/v1/responses', (words: string) => ({ model: 'agent', input: words })],
])('%s: a long request, and a refusal that looks into it, are as ever', async (path, bodyOf) => {
  const words = 'long words '.repeat(MIB / 11);
  play = async (req, res) => {
    const { messages } = JSON.parse(String((await hear(req)).bytes)) as { messages: { content: unknown }[] };
    say(res, JSON.stringify(messages.at(-1)?.content).includes(words) ? 'heard' : 'not heard');
  };
  for (let round = 0; round < 3; round++) {
    const { status, text } = await post(path, JSON.stringify(bodyOf(words)));
    expect(status, text).toBe(200);
    expect(text).toContain('"heard"');
  }
  play = async (req, res) => {
    await hear(req);
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
