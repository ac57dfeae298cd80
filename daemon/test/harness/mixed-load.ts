/** What a household does to its gateway all day, in small: chats, streams, callers who leave, wrong ones, lists. */
import { request } from 'node:http';
import { type Gateway, until } from './gateway.ts';
import { ask } from './http.ts';
import { slot } from './slots.ts';
import { contentOf, dataOf, openStream } from './stream.ts';

const CHAT = '/v1/chat/completions';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
/** Tokens of an answer; the model says the alphabet after `a`. */
const TOKENS = 120;
const TEXT = Array.from({ length: TOKENS }, (_, i) => ALPHABET[(i + 1) % 26]).join('');
/** Long enough that its caller leaves before the end. */
const LONG = 4_000;

const body = (more: object = {}) => ({
  model: 'agent',
  messages: [{ role: 'user', content: 'a' }],
  temperature: 0,
  max_tokens: TOKENS,
  ...more,
});

/** Null when a request ended as it was meant to, else what was lost. */
type Loss = string | null;
type Kind = (gateway: Gateway) => Promise<Loss>;

const answered = async (gateway: Gateway, path: string): Promise<Loss> => {
  const { status, text } = await ask(gateway, 'GET', path);
  return status === 200 ? null : `${path}: ${status} ${text.slice(0, 200)}`;
};

async function whole(gateway: Gateway): Promise<Loss> {
  const answer = await ask(gateway, 'POST', CHAT, { body: body() });
  if (answer.status !== 200) return `${answer.status} ${answer.text.slice(0, 200)}`;
  const { choices } = answer.json<{ choices: { message: { content: string } }[] }>();
  return choices[0]?.message.content === TEXT ? null : `another text: ${choices[0]?.message.content}`;
}

async function streamed(gateway: Gateway): Promise<Loss> {
  const stream = await openStream(gateway, CHAT, body({ stream: true }));
  const complete = await stream.ended;
  const text = stream.text();
  if (stream.status !== 200 || !complete) return `${stream.status}, cut: ${text.slice(-200)}`;
  if (dataOf(text).at(-1) !== '[DONE]') return `no end: ${text.slice(-200)}`;
  return contentOf(text) === TEXT ? null : `another text: ${contentOf(text)}`;
}

async function leaving(gateway: Gateway): Promise<Loss> {
  const stream = await openStream(gateway, CHAT, body({ stream: true, max_tokens: LONG }));
  let ended = false;
  void stream.ended.then(() => {
    ended = true;
  });
  await until(() => ended || stream.text().length > 500, 'the stream to flow');
  const loss = stream.status === 200 && !ended ? null : `${stream.status}: ${stream.text().slice(-200)}`;
  stream.leave();
  return loss;
}

/** Leaves before anything has come. */
function leavingAtOnce({ port }: Gateway): Promise<Loss> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const req = request({ host: '127.0.0.1', port, method: 'POST', path: CHAT, headers, agent: false });
    req.on('error', () => resolve(null));
    req.on('close', () => resolve(null));
    req.end(JSON.stringify(body({ stream: true })), () => req.destroy());
  });
}

async function wrong(gateway: Gateway): Promise<Loss> {
  const { status, code } = await ask(gateway, 'POST', CHAT, { body: body({ temperature: 'hot' }) });
  return code === 'request.invalid' ? null : `${status} ${code} for a wrong body`;
}

async function nowhere(gateway: Gateway): Promise<Loss> {
  const { status } = await ask(gateway, 'GET', `/v1/models/nobody-${Math.floor(performance.now())}`);
  return status === 404 ? null : `${status} for an unknown model`;
}

const KINDS: Readonly<Record<string, Kind>> = {
  whole,
  streamed,
  leaving,
  leavingAtOnce,
  wrong,
  nowhere,
  models: (gateway) => answered(gateway, '/v1/models'),
  overview: (gateway) => answered(gateway, '/api/slots'),
  metrics: (gateway) => answered(gateway, '/api/metrics/prometheus'),
};

/** What an administrator does meanwhile; a slot that goes has its callers served by the next engine. */
const CHURN: readonly ((gateway: Gateway) => Promise<Loss>)[] = [
  (gateway) => act(gateway, 'POST', '/api/slots/agent/restart'),
  (gateway) => act(gateway, 'POST', '/api/slots', { name: 'spare', model: 'tiny', autoload: false }),
  (gateway) => act(gateway, 'POST', '/api/slots/agent/unload'),
  (gateway) => act(gateway, 'PUT', '/api/slots/spare', { priority: 5 }),
  (gateway) => act(gateway, 'DELETE', '/api/slots/spare'),
];

async function act(gateway: Gateway, method: string, path: string, body?: object): Promise<Loss> {
  const { status, text } = await ask(gateway, method, path, { body });
  return status < 300 ? null : `${method} ${path}: ${status} ${text.slice(0, 200)}`;
}

export interface Load {
  /** Requests that ended as they were meant to, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** Those that did not; never more than a hundred are kept. */
  readonly lost: readonly string[];
  /** Acts of the administrator. */
  readonly churned: number;
}

const MAX_LOST = 100;

/**
 * So many callers, each with one request after the other of a kind that `random` draws, until `over()`; every `churnMs` the slot
 * is restarted, unloaded, or another one comes or goes. Resolves when the last request has ended.
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
  const names = Object.keys(KINDS);
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<string, number>;
  const lost: string[] = [];
  let churned = 0;
  const judge = async (name: string, work: Promise<Loss>): Promise<void> => {
    const loss = await work.catch((error: unknown) => String(error));
    if (loss === null) counts[name] = (counts[name] ?? 0) + 1;
    else if (lost.length < MAX_LOST) lost.push(`${name}: ${loss}`);
  };
  const caller = async () => {
    while (!over()) {
      const name = names[Math.floor(random() * names.length)] as string;
      await judge(name, (KINDS[name] as Kind)(gateway));
    }
  };
  const churner = async () => {
    for (let turn = 0; !over(); turn++) {
      const began = performance.now();
      await judge('churn', (CHURN[turn % CHURN.length] as Kind)(gateway));
      churned += 1;
      await until(() => over() || performance.now() - began > churnMs, 'the next act', churnMs + 20_000);
    }
    await ask(gateway, 'DELETE', '/api/slots/spare');
  };
  await Promise.all([...Array.from({ length: callers }, caller), churner()]);
  return { counts, lost, churned };
}

/** Waits until nothing runs or waits. */
export async function atRest(gateway: Gateway): Promise<void> {
  await until(async () => {
    const { active, queued } = await slot(gateway, 'agent');
    return active === 0 && queued === 0;
  }, 'the slot to be free');
}
