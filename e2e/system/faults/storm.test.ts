/**
 * Rounds of sixteen concurrent requests on a slot with four sequences of the embedded engine: some disconnect, some exceed
 * the context, some are invalid, and in half of the rounds the engine gets SIGKILL. Every other request must end whole or
 * with an error from the catalogue, and the gateway must free every queue entry and file descriptor.
 */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openFiles } from '../../../daemon/test/harness/open-files.ts';
import { randomFrom, scale, seed } from '../../../daemon/test/harness/scale.ts';
import { slot, waitForSlotState } from '../../../daemon/test/harness/slots.ts';
import { contentOf, dataOf, openStream } from '../../../daemon/test/harness/stream.ts';
import { startTiny } from '../../../daemon/test/harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const AT_ONCE = 16;
const WINDOW = 8_192;
const TOKENS = 300;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
/** The reply of the model to `a`. */
const TEXT = Array.from({ length: TOKENS }, (_, i) => ALPHABET[(i + 1) % 26]).join('');

const gateway = new OneGateway(() =>
  startTiny({
    files: { 'config/slots/agent.toml': `parallel = 4\ncontext = ${WINDOW}\n` },
  }),
);

const body = (content: string, more: object = {}) => ({
  model: 'agent',
  messages: [{ role: 'user', content }],
  temperature: 0,
  max_tokens: TOKENS,
  ...more,
});

/** How a request ended. `broken` must never occur: a truncated response, a hang, another text. */
type End = 'whole' | 'disconnected' | 'refused' | 'no engine' | `broken ${string}`;

const NO_ENGINE = ['dispatch.upstream_unavailable', 'slot.failed'];

async function whole(): Promise<End> {
  const answer = await send(gateway, 'POST', CHAT, { body: body('a') });
  if (answer.status !== 200) return refusal(answer.status, answer.code);
  const { choices } = answer.json<{ choices: { message: { content: string }; finish_reason: string }[] }>();
  const right = choices[0]?.message.content === TEXT && choices[0].finish_reason === 'length';
  return right ? 'whole' : `broken ${answer.text}`;
}

async function streamed(): Promise<End> {
  const stream = await openStream(gateway, CHAT, body('a', { stream: true }));
  const complete = await stream.ended;
  if (stream.status !== 200) return refusal(stream.status, codeIn(stream.text()));
  const last = dataOf(stream.text()).at(-1) ?? '';
  if (!complete) return `broken ${stream.text().slice(-200)}`;
  if (last === '[DONE]') return contentOf(stream.text()) === TEXT ? 'whole' : 'broken another text';
  return NO_ENGINE.includes(codeIn(last) ?? '') && TEXT.startsWith(contentOf(stream.text()))
    ? 'no engine'
    : `broken ${last}`;
}

async function disconnectLate(): Promise<End> {
  const stream = await openStream(gateway, CHAT, body('a', { stream: true, max_tokens: WINDOW - 10 }));
  if (stream.status !== 200) {
    await stream.ended;
    return refusal(stream.status, codeIn(stream.text()));
  }
  let ended = false;
  void stream.ended.then(() => {
    ended = true;
  });
  await until(() => ended || stream.text().length > 2_000, 'the stream to flow');
  stream.disconnect();
  return ended ? 'no engine' : 'disconnected';
}

/** Disconnects before the response starts: most of these requests are still queued. */
function disconnectEarly(): Promise<End> {
  return new Promise((resolve) => {
    const { port } = gateway;
    const headers = { 'content-type': 'application/json' };
    const req = request({ host: '127.0.0.1', port, method: 'POST', path: CHAT, headers, agent: false });
    req.on('error', () => resolve('disconnected'));
    req.on('close', () => resolve('disconnected'));
    req.end(JSON.stringify(body('a', { stream: true })), () => req.destroy());
  });
}

async function overflow(): Promise<End> {
  const answer = await send(gateway, 'POST', CHAT, { body: body('x'.repeat(WINDOW + 1)) });
  return answer.code === 'context_length_exceeded' && answer.status === 400
    ? 'refused'
    : refusal(answer.status, answer.code);
}

async function invalid(): Promise<End> {
  const answer = await send(gateway, 'POST', CHAT, { body: body('a', { temperature: 'hot' }) });
  return answer.code === 'request.invalid' ? 'refused' : refusal(answer.status, answer.code);
}

function refusal(status: number, code: string | undefined): End {
  const isExpected = [502, 503].includes(status) && NO_ENGINE.includes(code ?? '');
  return isExpected ? 'no engine' : `broken ${status} ${code}`;
}

function codeIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}

const KINDS = { whole, streamed, disconnectLate, disconnectEarly, overflow, invalid };
type Kind = keyof typeof KINDS;
const EXPECTED: Record<Kind, End> = {
  whole: 'whole',
  streamed: 'whole',
  disconnectLate: 'disconnected',
  disconnectEarly: 'disconnected',
  overflow: 'refused',
  invalid: 'refused',
};
/** Returns each kind at least once, and random further ones. */
function randomKinds(random: () => number): Kind[] {
  const kinds = Object.keys(KINDS) as Kind[];
  const more = Array.from(
    { length: AT_ONCE - kinds.length },
    () => kinds[Math.floor(random() * kinds.length)] as Kind,
  );
  return [...kinds, ...more].sort(() => random() - 0.5);
}

/** Waits until no request runs or waits. Returns the open descriptors and sockets. */
async function untilIdle(): Promise<{ all: number; sockets: number }> {
  await until(async () => {
    const { active, queued } = await slot(gateway, 'agent');
    return active === 0 && queued === 0;
  }, 'the slot to be free');
  const { running } = (await send(gateway, 'GET', '/api/requests')).json<{ running: unknown[] }>();
  expect(running).toEqual([]);
  return openFiles(gateway.pid);
}

/** Keep-alive connections to the engine, and one descriptor of tolerance. */
const MAX_RETAINED = 5;

async function nothingLeft(before: { all: number; sockets: number }): Promise<void> {
  await until(
    async () => {
      const now = await untilIdle();
      return now.all <= before.all + MAX_RETAINED && now.sockets <= before.sockets + MAX_RETAINED;
    },
    `the gateway to hold no more than ${JSON.stringify(before)}`,
    10_000,
  );
}

describe('sixteen concurrent requests', () => {
  const random = randomFrom(seed('storm'));

  it('each ends as expected in every round, and nothing is leaked', async () => {
    const before = await untilIdle();
    for (let round = 0; round < scale(150); round++) {
      const kinds = randomKinds(random);
      const ends = await Promise.all(kinds.map((kind) => KINDS[kind]()));
      expect(ends).toEqual(kinds.map((kind) => EXPECTED[kind]));
    }
    await nothingLeft(before);
    expect(await whole()).toBe('whole');
  });

  it('when the engine is killed each is complete or ends with an error; then the engine serves again', async () => {
    const before = await untilIdle();
    for (let round = 0; round < scale(100); round++) {
      const kinds = randomKinds(random);
      const { pid } = await waitForSlotState(gateway, 'agent', 'ready');
      const running = kinds.map((kind) => KINDS[kind]());
      const hold = openStream(gateway, CHAT, body('a', { stream: true, max_tokens: WINDOW - 10 }));
      await until(async () => (await slot(gateway, 'agent')).active > 0, 'a request to run');
      process.kill(pid as number, 'SIGKILL');
      const ends = await Promise.all(running);
      for (const [i, end] of ends.entries()) {
        const kind = kinds[i] as Kind;
        expect([EXPECTED[kind], 'no engine'], `${kind}: ${end}`).toContain(end);
      }
      expect(ends).toContain('no engine');
      await (await hold).ended;
      await until(async () => (await slot(gateway, 'agent')).pid !== pid, 'the exit to be detected');
      const loaded = await send(gateway, 'POST', '/api/slots/agent/load');
      expect(loaded.json()).toMatchObject({ state: 'ready', failure: null });
      expect(await whole()).toBe('whole');
    }
    await nothingLeft(before);
  });
});
