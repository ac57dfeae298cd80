/** A real Ray Serve cluster as an upstream: spread, cancel, killed replicas, redeployment, scaling, backpressure, a stopped head. */
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
const CONCURRENCY = 8;
/** More than any test sends at once. */
const AMPLE = { max_ongoing: 64, max_queued: -1 };
const TWO_REPLICAS = { replicas: 2, ...AMPLE };
/** One replica that refuses all but one running and one waiting request. */
const TIGHT = { replicas: 1, max_ongoing: 1, max_queued: 1 };
const OVERLOAD = 3 * CONCURRENCY;
/** Long streams during which a replica is killed, and their tokens: 8 s. */
const LONG_STREAMS = 16;
const LONG_TOKENS = 400;
/** The load of the acceptance: requests, and requests at once. */
const LOAD = { requests: 200, callers: 16 };
const MAX_CANCEL_MS = 250;
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
    ray = await startRay(python ?? '', { version: 'v1', ...TWO_REPLICAS });
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

  /** Running streams by their requests, and the tokens that their callers requested. */
  const open = new Map<string, { readonly text: () => string; readonly tokens: number }>();

  async function streamed(tokens: number): Promise<Outcome> {
    const request = newRequest();
    const stream = await openStream(gateway, CHAT, bodyOf(request, tokens, true));
    open.set(request, { text: stream.text, tokens });
    const isComplete = await stream.ended;
    open.delete(request);
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
    isStreamed = (sent: number) => sent % 2 === 1,
  ): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let sent = 0;
    const caller = async () => {
      while (isWanted(sent)) {
        sent += 1;
        outcomes.push(await (isStreamed(sent) ? streamed(tokens) : plain(tokens)));
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

  /** Ends one request from the side of the caller. Returns the milliseconds until the replica has cancelled its work. */
  async function cancelMs(stream: boolean): Promise<number> {
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
    const leftAt = Date.now();
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(() => eventOf('cancel') !== undefined, 'the replica to cancel', 10_000);
    expect(eventOf('end')).toBeUndefined();
    return (eventOf('cancel')?.at ?? Number.POSITIVE_INFINITY) - leftAt;
  }

  it.each([true, false])(
    'a client disconnect ends the work of the replica within 250 ms (stream: %s)',
    async (stream) => {
      const times: number[] = [];
      for (let attempt = 0; attempt < 5; attempt++) times.push(await cancelMs(stream));
      // The median: a single attempt may meet another program on a busy machine.
      expect(times.sort((one, other) => one - other)[2]).toBeLessThan(MAX_CANCEL_MS);
    },
  );

  /** The pids of killed replicas, whose requests have no end among the events. */
  const killed = new Set<number>();
  /** Whether the caller has received the first tokens of a stream, and misses at least half of them. */
  function isMidway(request: string | undefined): boolean {
    const stream = open.get(request ?? '');
    if (stream === undefined) return false;
    const received = stream.text().split('"content"').length - 1;
    return received > 0 && received < stream.tokens / 2;
  }

  /** Waits until `count` requests run on one replica, one of them midway, and kills it. Returns its pid. */
  async function killBusyReplica(count: number): Promise<number> {
    let victim = 0;
    await until(() => {
      const busy = ray
        .events()
        .find(
          ({ event, pid, request }) =>
            event === 'begin' && !killed.has(pid) && isMidway(request) && runningOn(pid) >= count,
        );
      victim = busy?.pid ?? 0;
      return victim !== 0;
    }, `${count} requests to run on one replica`);
    killed.add(victim);
    process.kill(victim, 'SIGKILL');
    return victim;
  }

  /** Waits until two replicas answer without `victim`. */
  async function untilReplaced(victim: number): Promise<void> {
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
  }

  /** Asserts that only streams that had started at a killed replica failed, and each of them did. */
  function expectOnlyItsStreamsBroken(outcomes: readonly Outcome[], victim: number): void {
    const broken = notWhole(outcomes);
    // One whose first token was not out yet gets Ray's 500.
    expect(broken.filter(({ kind }) => !['broken', 'refused'].includes(kind))).toEqual([]);
    expect(kindsOf(broken)).toContain('broken');
    const startedOn = new Map(startedOutcomes(outcomes).map(({ request, pid }) => [request, pid]));
    const places = (kind: Outcome['kind']) =>
      new Set(broken.filter((each) => each.kind === kind).map(({ request }) => startedOn.get(request)));
    expect(places('broken')).toEqual(new Set([victim]));
    // Ray may have assigned a refused request to the replica before the replica started it.
    for (const place of places('refused')) expect([victim, undefined]).toContain(place);
    const hasEnded = (request: string) =>
      ray.events().some((each) => each.event === 'end' && each.request === request);
    const onVictim = outcomes.filter(
      ({ request }) => startedOn.get(request) === victim && !hasEnded(request),
    );
    expect(onVictim.map(({ request }) => request).sort()).toEqual(
      broken
        .map(({ request }) => request)
        .filter((request) => startedOn.has(request))
        .sort(),
    );
  }

  it('a replica is killed with 16 long streams open: no new request is refused', {
    timeout: 2 * RECOVERY_LIMIT_MS,
  }, async () => {
    const streams = Array.from({ length: LONG_STREAMS }, () => streamed(LONG_TOKENS));
    const victim = await killBusyReplica(LONG_STREAMS / 2 - 2);
    let areOpen = true;
    const ending = Promise.all(streams).finally(() => {
      areOpen = false;
    });
    const [during, outcomes] = await Promise.all([load(1, () => areOpen, 2), ending]);
    expect(during.length).toBeGreaterThan(10);
    expect(notWhole(during)).toEqual([]);
    expectOnlyItsStreamsBroken(outcomes, victim);
    expect(kindsOf(outcomes)).toContain('whole');
    expectSentOnce([...during, ...outcomes]);
    await untilReplaced(victim);
  });

  it('200 requests at 16 while a replica is killed: only streams that had started there end with an error event', {
    timeout: 3 * RECOVERY_LIMIT_MS,
  }, async () => {
    const { requests, callers } = LOAD;
    const loading = load(
      25,
      (sent) => sent < requests,
      callers,
      () => true,
    );
    const victim = await killBusyReplica(5);
    const outcomes = await loading;
    expect(outcomes).toHaveLength(requests);
    expectOnlyItsStreamsBroken(outcomes, victim);
    expectSentOnce(outcomes);
    await untilReplaced(victim);
  });

  it('a rolling redeployment under load loses nothing', { timeout: 2 * DEPLOY_LIMIT_MS }, async () => {
    let isDeployed = false;
    const deploying = ray.deploy({ version: 'v2', ...TWO_REPLICAS }).finally(() => {
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

  it('scaling from one replica to three under load loses nothing', {
    timeout: 3 * DEPLOY_LIMIT_MS,
  }, async () => {
    await ray.deploy({ version: 'one', replicas: 1, ...AMPLE });
    expect(replicasOf(await loadOf(8, 2)).size).toBe(1);
    let isDeployed = false;
    const deploying = ray.deploy({ version: 'three', replicas: 3, ...AMPLE }).finally(() => {
      isDeployed = true;
    });
    const [outcomes] = await Promise.all([load(25, () => !isDeployed), deploying]);
    expect(notWhole(outcomes)).toEqual([]);
    expectSentOnce(outcomes);
    let after: Outcome[] = [];
    await until(
      async () => {
        after = await loadOf(30, 5);
        return replicasOf(after).size === 3;
      },
      'three replicas to take part',
      RECOVERY_LIMIT_MS,
    );
    expect(notWhole(after)).toEqual([]);
  });

  it("a full deployment: Ray's 503 and its reason reach the caller, and the others are answered", {
    timeout: 2 * DEPLOY_LIMIT_MS,
  }, async () => {
    await ray.deploy({ version: 'tight', ...TIGHT });
    const outcomes = await loadOf(OVERLOAD, 20, OVERLOAD);
    expect(kindsOf(outcomes).sort()).toEqual(['refused', 'whole']);
    const refused = outcomes.filter(({ kind }) => kind === 'refused');
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    for (const { text } of refused) expect(text).toContain('backpressure');
    expectSentOnce(outcomes);
    expect((await plain(1)).kind).toBe('whole');
  });

  it('a stopped head is named at once, and found again after its start', {
    timeout: 2 * DEPLOY_LIMIT_MS,
  }, async () => {
    const { port } = ray;
    await ray.stop();
    const before = Date.now();
    const { status, text } = await plain(1);
    expect([status, Date.now() - before < 2_000]).toEqual([502, true]);
    expect(text).toContain('dispatch.upstream_unavailable');
    const listed = await send(gateway, 'GET', `/v1/models/${MODEL}`);
    expect(listed.json()).toMatchObject({ id: MODEL });
    ray = await startRay(python ?? '', { version: 'v3', ...TWO_REPLICAS }, port);
    await until(async () => (await plain(1)).kind === 'whole', 'the gateway to use it', RECOVERY_LIMIT_MS);
    expect(notWhole(await loadOf(16, 2))).toEqual([]);
  });
});
