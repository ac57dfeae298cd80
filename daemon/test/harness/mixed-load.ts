/** A mixed load: chats, streams, client disconnects, invalid requests, lists. */
import { request } from 'node:http';
import { type Gateway, until } from './gateway.ts';
import { send } from './http.ts';
import { slot } from './slots.ts';
import { contentOf, dataOf, openStream } from './stream.ts';

const CHAT = '/v1/chat/completions';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
/** Tokens of a reply; after `a` the model continues the alphabet. */
const TOKENS = 120;
const TEXT = Array.from({ length: TOKENS }, (_, i) => ALPHABET[(i + 1) % 26]).join('');
/** Long enough that the caller disconnects before the end. */
const LONG = 4_000;

const body = (more: object = {}) => ({
  model: 'agent',
  messages: [{ role: 'user', content: 'a' }],
  temperature: 0,
  max_tokens: TOKENS,
  ...more,
});

/** Null when a request ended as expected, else the failure. */
type Failure = string | null;
type Scenario = (gateway: Gateway) => Promise<Failure>;

const expectOk = async (gateway: Gateway, path: string): Promise<Failure> => {
  const { status, text } = await send(gateway, 'GET', path);
  return status === 200 ? null : `${path}: ${status} ${text.slice(0, 200)}`;
};

async function whole(gateway: Gateway): Promise<Failure> {
  const response = await send(gateway, 'POST', CHAT, { body: body() });
  if (response.status !== 200) return `${response.status} ${response.text.slice(0, 200)}`;
  const { choices } = response.json<{ choices: { message: { content: string } }[] }>();
  return choices[0]?.message.content === TEXT ? null : `another text: ${choices[0]?.message.content}`;
}

async function streamed(gateway: Gateway): Promise<Failure> {
  const stream = await openStream(gateway, CHAT, body({ stream: true }));
  const complete = await stream.ended;
  const text = stream.text();
  if (stream.status !== 200 || !complete) return `${stream.status}, cut: ${text.slice(-200)}`;
  if (dataOf(text).at(-1) !== '[DONE]') return `no end: ${text.slice(-200)}`;
  return contentOf(text) === TEXT ? null : `another text: ${contentOf(text)}`;
}

async function leaving(gateway: Gateway): Promise<Failure> {
  const stream = await openStream(gateway, CHAT, body({ stream: true, max_tokens: LONG }));
  let ended = false;
  void stream.ended.then(() => {
    ended = true;
  });
  await until(() => ended || stream.text().length > 500, 'the stream to flow');
  const failure = stream.status === 200 && !ended ? null : `${stream.status}: ${stream.text().slice(-200)}`;
  stream.disconnect();
  return failure;
}

/** Disconnects before the response. */
function leavingAtOnce({ port }: Gateway): Promise<Failure> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const req = request({ host: '127.0.0.1', port, method: 'POST', path: CHAT, headers, agent: false });
    req.on('error', () => resolve(null));
    req.on('close', () => resolve(null));
    req.end(JSON.stringify(body({ stream: true })), () => req.destroy());
  });
}

async function wrong(gateway: Gateway): Promise<Failure> {
  const { status, code } = await send(gateway, 'POST', CHAT, { body: body({ temperature: 'hot' }) });
  return code === 'request.invalid' ? null : `${status} ${code} for a wrong body`;
}

async function nowhere(gateway: Gateway): Promise<Failure> {
  const { status } = await send(gateway, 'GET', `/v1/models/unknown-${Math.floor(performance.now())}`);
  return status === 404 ? null : `${status} for an unknown model`;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  whole,
  streamed,
  leaving,
  leavingAtOnce,
  wrong,
  nowhere,
  models: (gateway) => expectOk(gateway, '/v1/models'),
  overview: (gateway) => expectOk(gateway, '/api/slots'),
  metrics: (gateway) => expectOk(gateway, '/api/metrics/prometheus'),
};

/** Admin actions during the load. The callers of an unloaded slot are served by the next engine. */
const CHURN: readonly ((gateway: Gateway) => Promise<Failure>)[] = [
  (gateway) => act(gateway, 'POST', '/api/slots/agent/restart'),
  (gateway) => act(gateway, 'POST', '/api/slots', { name: 'spare', model: 'tiny', autoload: false }),
  (gateway) => act(gateway, 'POST', '/api/slots/agent/unload'),
  (gateway) => act(gateway, 'PUT', '/api/slots/spare', { priority: 5 }),
  (gateway) => act(gateway, 'DELETE', '/api/slots/spare'),
];

async function act(gateway: Gateway, method: string, path: string, body?: object): Promise<Failure> {
  const { status, text } = await send(gateway, method, path, { body });
  return status < 300 ? null : `${method} ${path}: ${status} ${text.slice(0, 200)}`;
}

export interface Load {
  /** Number of requests that ended as expected, by scenario. */
  readonly counts: Readonly<Record<string, number>>;
  /** The failures, at most 100. */
  readonly lost: readonly string[];
  /** Number of admin actions. */
  readonly churned: number;
}

const MAX_LOST = 100;

/**
 * Runs `callers` loops, each sending random requests one after another, until `over()`. Every `churnMs` one admin action
 * restarts, unloads, creates or removes a slot. Resolves when the last request has ended.
 */
export async function mixedLoad(
  gateway: Gateway,
  {
    callers,
    churnMs,
    random,
    over,
  }: { callers: number; churnMs: number; random: () => number; over: () => boolean },
): Promise<Load> {
  const names = Object.keys(SCENARIOS);
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<string, number>;
  const lost: string[] = [];
  let churned = 0;
  const record = async (name: string, work: Promise<Failure>): Promise<void> => {
    const failure = await work.catch((error: unknown) => String(error));
    if (failure === null) counts[name] = (counts[name] ?? 0) + 1;
    else if (lost.length < MAX_LOST) lost.push(`${name}: ${failure}`);
  };
  const caller = async () => {
    while (!over()) {
      const name = names[Math.floor(random() * names.length)] as string;
      await record(name, (SCENARIOS[name] as Scenario)(gateway));
    }
  };
  const churner = async () => {
    for (let turn = 0; !over(); turn++) {
      const startedAt = performance.now();
      await record('churn', (CHURN[turn % CHURN.length] as Scenario)(gateway));
      churned += 1;
      await until(() => over() || performance.now() - startedAt > churnMs, 'the next act', churnMs + 20_000);
    }
    await send(gateway, 'DELETE', '/api/slots/spare');
  };
  await Promise.all([...Array.from({ length: callers }, caller), churner()]);
  return { counts, lost, churned };
}

/** Waits until no request is running or queued. */
export async function atRest(gateway: Gateway): Promise<void> {
  await until(async () => {
    const { active, queued } = await slot(gateway, 'agent');
    return active === 0 && queued === 0;
  }, 'the slot to be free');
}
