/** A real Ray Serve cluster with two replicas as an upstream: spread, cancel, a killed replica, redeployment, backpressure. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { contentOf, dataOf, openStream } from '../../../daemon/test/harness/stream.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { DEPLOY_LIMIT_MS, type RayServer, startRay } from './ray-server.ts';

const CHAT = '/v1/chat/completions';
const MODEL = 'ray-counter';
/** Concurrent requests: one replica can run all of them, and its queue can hold all of them. */
const CONCURRENCY = 8;
const LIMITS = { max_ongoing: CONCURRENCY, max_queued: CONCURRENCY };
/** Twice the capacity of both replicas and the queue. */
const OVERLOAD = 6 * CONCURRENCY;
const INSTALL_LIMIT_MS = 240_000;
/** Time limit until a killed replica is replaced and the circuit breaker has closed. */
const RECOVERY_LIMIT_MS = 60_000;

const python = await availableOrSkip('Ray Serve as an upstream', () =>
  pythonEnvironment({
    name: 'ray',
    lock: join(import.meta.dirname, 'ray-requirements.txt'),
    limitMs: INSTALL_LIMIT_MS,
  }),
);

interface Outcome {
  readonly request: string;
  /** `whole`: the complete text. `refused`: a 5xx. `broken`: a stream that ends with an error event. */
  readonly kind: 'whole' | 'refused' | 'broken' | 'wrong';
  readonly status: number;
  readonly text: string;
}

const countedTo = (tokens: number): string => Array.from({ length: tokens }, (_, i) => `${i} `).join('');

describe.skipIf(python === null)('Ray Serve as an upstream', () => {
  let ray: RayServer;
  beforeAll(async () => {
    ray = await startRay(python ?? '', { version: 'v1', ...LIMITS });
  });
  afterAll(async () => {
    await ray?.stop();
  });
  const gateway = new OneGateway(() =>
    startGateway({
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/upstreams/ray.toml': `base_url = "${ray.url}"\nkind = "vllm"\nconnect_timeout_s = 3\n`,
      },
    }),
  );

  let count = 0;
  const bodyOf = (request: string, tokens: number, stream: boolean) => ({
    model: MODEL,
    messages: [{ role: 'user', content: 'count' }],
    user: request,
    max_tokens: tokens,
    stream,
  });
  const newRequest = () => `request-${++count}`;

  async function plain(tokens: number): Promise<Outcome> {
    const request = newRequest();
    const answer = await send(gateway, 'POST', CHAT, { body: bodyOf(request, tokens, false) });
    const { status, text } = answer;
    const content =
      status === 200 &&
      answer.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content;
    const isWhole = content === countedTo(tokens);
    return { request, status, text, kind: isWhole ? 'whole' : status >= 500 ? 'refused' : 'wrong' };
  }

  async function streamed(tokens: number): Promise<Outcome> {
    const request = newRequest();
    const stream = await openStream(gateway, CHAT, bodyOf(request, tokens, true));
    const isComplete = await stream.ended;
    const { status } = stream;
    const text = stream.text();
    const outcome = { request, status, text };
    if (status !== 200) return { ...outcome, kind: status >= 500 ? 'refused' : 'wrong' };
    const data = dataOf(text);
    const hasError = data.some((each) => each.startsWith('{"error":'));
    if (isComplete && hasError && !data.includes('[DONE]')) return { ...outcome, kind: 'broken' };
    const isWhole = isComplete && data.at(-1) === '[DONE]' && contentOf(text) === countedTo(tokens);
    return { ...outcome, kind: isWhole ? 'whole' : 'wrong' };
  }

  /** Sends requests, every second one streamed, `callers` at a time, as long as `isWanted` returns true. */
  async function load(
    tokens: number,
    isWanted: (sent: number) => boolean,
    callers = CONCURRENCY,
  ): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let sent = 0;
    const caller = async () => {
      while (isWanted(sent)) {
        sent += 1;
        outcomes.push(await (sent % 2 === 0 ? plain(tokens) : streamed(tokens)));
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return outcomes;
  }
  const loadOf = (requests: number, tokens: number, callers?: number) =>
    load(tokens, (sent) => sent < requests, callers);

  const kindsOf = (outcomes: readonly Outcome[]) => [...new Set(outcomes.map(({ kind }) => kind))];
  const notWhole = (outcomes: readonly Outcome[]) => outcomes.filter(({ kind }) => kind !== 'whole');
  const startedOutcomes = (outcomes: readonly Outcome[]) => {
    const requests = new Set(outcomes.map(({ request }) => request));
    return ray.events().filter(({ event, request }) => event === 'begin' && requests.has(request ?? ''));
  };
  const replicasOf = (outcomes: readonly Outcome[]) =>
    new Set(startedOutcomes(outcomes).map(({ pid }) => pid));
  /** Asserts that each request was started once. A `refused` request may not have been started. */
  function expectSentOnce(outcomes: readonly Outcome[]): void {
    const sent = startedOutcomes(outcomes).map(({ request }) => request);
    expect(sent).toHaveLength(new Set(sent).size);
    const unsent = outcomes.filter(({ request, kind }) => kind !== 'refused' && !sent.includes(request));
    expect(unsent).toEqual([]);
  }
  /** Requests that a replica has started and not yet ended. */
  function runningOn(pid: number): number {
    const own = ray.events().filter((each) => each.pid === pid && each.event !== 'start');
    return own.reduce((sum, { event }) => sum + (event === 'begin' ? 1 : -1), 0);
  }

  it('the models of the cluster are listed with their window', async () => {
    const model = () => send(gateway, 'GET', `/v1/models/${MODEL}`);
    await until(async () => (await model()).status === 200, 'the model list to be read');
    expect((await model()).json()).toMatchObject({ id: MODEL, max_model_len: 4096 });
  });

  it('plain and streamed chats are spread over both replicas, each sent once', async () => {
    const outcomes = await loadOf(24, 10);
    expect(notWhole(outcomes)).toEqual([]);
    expect(replicasOf(outcomes).size).toBe(2);
    expectSentOnce(outcomes);
  });

  it.each([true, false])('a client disconnect ends the work of the replica (stream: %s)', async (stream) => {
    const request = newRequest();
    const eventOf = (kind: string) =>
      ray.events().find((each) => each.request === request && each.event === kind);
    const leaving = new AbortController();
    const answer = fetch(`${gateway.url}${CHAT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(request, 1_000, stream)),
      signal: leaving.signal,
    }).then((response) => response.text());
    await until(() => eventOf('begin') !== undefined, 'the request to begin');
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(() => eventOf('cancel') !== undefined, 'the replica to cancel', 10_000);
    expect(eventOf('cancel')?.done).toBeLessThan(900);
    expect(eventOf('end')).toBeUndefined();
  });

  it('a replica is killed under load: nothing is sent twice, and broken responses end with an error', async () => {
    const loading = loadOf(40, 100);
    let victim = 0;
    await until(() => {
      victim = ray.events().find(({ event, pid }) => event === 'begin' && runningOn(pid) >= 3)?.pid ?? 0;
      return victim !== 0;
    }, 'three requests to run on one replica');
    process.kill(victim, 'SIGKILL');
    const outcomes = await loading;
    expect(outcomes.filter(({ kind }) => kind === 'wrong')).toEqual([]);
    expect(kindsOf(outcomes)).toContain('whole');
    expect(notWhole(outcomes).length).toBeGreaterThan(0);
    expectSentOnce(outcomes);

    await until(
      async () =>
        (await plain(1)).kind === 'whole' &&
        ray.events().filter(({ event }) => event === 'start').length === 3,
      'the gateway to answer and the replica to be replaced',
      RECOVERY_LIMIT_MS,
    );
    let after: Outcome[] = [];
    await until(
      async () => {
        after = await loadOf(16, 5);
        return replicasOf(after).size === 2;
      },
      'the new replica to take part',
      RECOVERY_LIMIT_MS,
    );
    expect(notWhole(after)).toEqual([]);
    expect(replicasOf(after)).not.toContain(victim);
  });

  it('a rolling redeployment under load loses nothing', { timeout: 2 * DEPLOY_LIMIT_MS }, async () => {
    let isDeployed = false;
    const deploying = ray.deploy({ version: 'v2', ...LIMITS }).finally(() => {
      isDeployed = true;
    });
    const [outcomes] = await Promise.all([load(25, () => !isDeployed), deploying]);
    expect(notWhole(outcomes)).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(CONCURRENCY);
    expectSentOnce(outcomes);
    const after = await loadOf(16, 2);
    expect(notWhole(after)).toEqual([]);
    expect(new Set(startedOutcomes(after).map(({ version }) => version))).toEqual(new Set(['v2']));
  });

  it("a full deployment: Ray's 503 and its reason reach the caller, and the others are answered", async () => {
    const outcomes = await loadOf(OVERLOAD, 20, OVERLOAD);
    expect(kindsOf(outcomes).sort()).toEqual(['refused', 'whole']);
    const refused = outcomes.filter(({ kind }) => kind === 'refused');
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    for (const { text } of refused) expect(text).toContain('backpressure');
    expectSentOnce(outcomes);
    expect((await plain(1)).kind).toBe('whole');
  });
});
