/** Two upstreams on separate machines (network namespaces): suspended, resumed, with a cut and a restored cable. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, chat, Front } from '../../../daemon/test/harness/front-gateway.ts';
import { CLIENT_KEY, until } from '../../../daemon/test/harness/gateway.ts';
import { type HttpResponse, send } from '../../../daemon/test/harness/http.ts';
import { dataOf, openStream, type StreamedResponse } from '../../../daemon/test/harness/stream.ts';
import { MAX_WAIT_MS, receivedTwice } from '../../../daemon/test/harness/suspended-load.ts';
import { UpstreamProcess } from '../../../daemon/test/harness/upstream-process.ts';
import { NetworkMachine } from '../harness/network-machine.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const MODEL = 'shared';
const ALONE = 'solo';
/** A stream ends with an error event after 30 s of silence. */
const MAX_SILENCE_MS = 45_000;
/** Probes and polls of an upstream that is down are at most 30 s apart. */
const MAX_RECOVERY_MS = 45_000;
const CALLERS = 16;
const MINUTE = 60_000;

const machines = await availableOrSkip('upstreams on other machines', async () => {
  const desk = await NetworkMachine.create();
  return { desk, den: await NetworkMachine.create() };
});

interface Outcome {
  readonly user: string;
  readonly status: number;
  /** `whole`: the complete text. `broken`: a stream with one error event at its end. */
  readonly kind: 'whole' | 'refused' | 'broken' | 'wrong';
  readonly ms: number;
  readonly isStream: boolean;
  readonly text: string;
}

describe.skipIf(machines === null)('upstreams on other machines', () => {
  const { desk, den } = (machines ?? {}) as NonNullable<typeof machines>;
  const front = new Front();
  let atDesk: UpstreamProcess;
  let atDen: UpstreamProcess;

  beforeAll(async () => {
    await front.start();
    atDesk = await UpstreamProcess.start([MODEL, ALONE], 20, { prefix: desk.prefix, host: desk.address });
    atDen = await UpstreamProcess.start([MODEL], 20, { prefix: den.prefix, host: den.address });
    await front.add('desk', `base_url = "${atDesk.url}"\nconnect_timeout_s = 3\n`);
    await front.add('den', `base_url = "${atDen.url}"\nconnect_timeout_s = 3\n`);
  });
  afterAll(async () => {
    await Promise.all([atDesk?.kill(), atDen?.kill(), front.close()]);
    await Promise.all([desk?.remove(), den?.remove()]);
  });

  let count = 0;
  const newUser = () => `request-${++count}`;
  const healthOf = async (name: string) => (await front.upstream(name)).health;
  const untilOk = (name: string) =>
    until(async () => (await healthOf(name)) === 'ok', `${name} to be ok`, MAX_RECOVERY_MS);
  /** Waits until two probes have failed. Lost connections alone count as down earlier, and answers may still come. */
  const untilDown = (name: string) =>
    until(
      async () => (await front.upstream(name)).reason === 'It did not respond to two probes.',
      `${name} to be down`,
      MAX_WAIT_MS,
    );

  const post = (model: string, user: string): Promise<HttpResponse> =>
    send(front.gateway, 'POST', CHAT, {
      body: chat(model, { user }),
      key: CLIENT_KEY,
      idleTimeoutMs: 4 * MAX_WAIT_MS,
    });
  const open = (model: string, user: string, tokens: number): Promise<StreamedResponse> =>
    openStream(front.gateway, CHAT, chat(model, { user, stream: true, max_tokens: tokens }), {
      key: CLIENT_KEY,
    });

  async function plain(): Promise<Outcome> {
    const user = newUser();
    const before = performance.now();
    const { status, text } = await post(MODEL, user);
    const isWhole = status === 200 && text.includes(`served ${user}"`);
    const kind = isWhole ? 'whole' : status >= 500 ? 'refused' : 'wrong';
    return { user, status, text, kind, isStream: false, ms: performance.now() - before };
  }

  async function streamed(): Promise<Outcome> {
    const user = newUser();
    const before = performance.now();
    const stream = await open(MODEL, user, 20);
    const isEnded = await stream.ended;
    const text = stream.text();
    const data = dataOf(text);
    const errors = data.filter((each) => each.startsWith('{"error":'));
    const ends = data.filter((each) => each === '[DONE]').length + errors.length;
    const ms = performance.now() - before;
    const outcome = { user, status: stream.status, text, isStream: true, ms };
    if (stream.status !== 200) return { ...outcome, kind: stream.status >= 500 ? 'refused' : 'wrong' };
    // Exactly one end, and it is the last event.
    if (!isEnded || ends !== 1 || text.split(`served ${user}"`).length > 2)
      return { ...outcome, kind: 'wrong' };
    if (data.at(-1) === errors[0]) return { ...outcome, kind: 'broken' };
    const isWhole = data.at(-1) === '[DONE]' && text.includes(`served ${user}"`);
    return { ...outcome, kind: isWhole ? 'whole' : 'wrong' };
  }

  /** Sends plain and streamed requests, `CALLERS` at a time, until `isOver`. */
  async function load(isOver: () => boolean): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    const caller = async (at: number) => {
      while (!isOver()) {
        outcomes.push(await (at % 2 === 0 ? plain() : streamed()));
        await delay(200);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, at) => caller(at)));
    return outcomes;
  }

  /** Runs `fault` under load until `name` is down, repairs it, and waits for its health. Returns all outcomes. */
  async function during(name: string, fault: () => unknown, repair: () => unknown): Promise<Outcome[]> {
    let isOver = false;
    const loading = load(() => isOver);
    try {
      await delay(1_000);
      await fault();
      await untilDown(name);
      await delay(2_000);
      await repair();
      await untilOk(name);
      await delay(1_000);
    } finally {
      isOver = true;
    }
    return loading;
  }

  function expectOneEndEach(outcomes: readonly Outcome[]): void {
    expect(outcomes.filter(({ kind }) => kind === 'wrong')).toEqual([]);
    expect(outcomes.filter(({ kind }) => kind === 'refused')).toEqual([]);
    expect(new Set(outcomes.map(({ user }) => user)).size).toBe(outcomes.length);
    const whole = outcomes.filter(({ kind }) => kind === 'whole');
    expect(whole.length).toBeGreaterThan(outcomes.length / 2);
    // A running stream may be silent for 30 s, and goes on when the kernel sends its packets again.
    const isLate = ({ isStream, ms }: Outcome) => ms > (isStream ? MAX_SILENCE_MS : MAX_WAIT_MS);
    expect(outcomes.filter(isLate)).toEqual([]);
    expect([receivedTwice(atDesk), receivedTwice(atDen)]).toEqual([[], []]);
  }

  it.each([
    ['a suspended machine', 'desk', () => atDesk.suspend(), () => atDesk.resume()],
    ['a cut cable', 'den', () => den.cut(), () => den.restore()],
    ['a cut cable of the other one', 'desk', () => desk.cut(), () => desk.restore()],
  ] as const)(
    '%s: each caller gets exactly one answer or one error, and no upstream gets a request twice',
    async (_, name, fault, repair) => {
      const outcomes = await during(name, fault, repair);
      expect(outcomes.length).toBeGreaterThan(CALLERS);
      expectOneEndEach(outcomes);
    },
    4 * MINUTE,
  );

  it('an upstream that is disabled ends its streams whole, and gets no new request', async () => {
    const user = newUser();
    const running = await open(ALONE, user, 200);
    await until(() => running.text().includes(`served ${user}`), 'the stream to run');
    const write = (line: string) =>
      writeFileSync(
        join(front.home, 'config', 'upstreams', 'desk.toml'),
        `${line}base_url = "${atDesk.url}"\nconnect_timeout_s = 3\n`,
      );
    write('enabled = false\n');
    await until(async () => !(await front.upstream('desk')).enabled, 'desk to be disabled');
    const after = await Promise.all(Array.from({ length: 8 }, plain));
    expect(new Set(after.map(({ kind }) => kind))).toEqual(new Set(['whole']));
    expect(after.filter((each) => atDesk.received.includes(each.user))).toEqual([]);
    expect(await running.ended).toBe(true);
    expect(dataOf(running.text()).at(-1)).toBe('[DONE]');
    write('');
    await untilOk('desk');
  });

  it(
    'a running stream over a cut cable ends with one error event, and a restored cable adds nothing',
    async () => {
      const running = await open(ALONE, 'running', 10_000);
      await until(() => running.text().includes('served running'), 'the stream to run');
      await desk.cut();
      const since = performance.now();
      const waiting = await post(ALONE, 'waiting');
      expect([waiting.status, waiting.code]).toEqual([502, 'dispatch.upstream_unavailable']);
      expect(performance.now() - since).toBeLessThan(MAX_WAIT_MS);
      expect(await running.ended).toBe(true);
      const ended = dataOf(running.text());
      expect(JSON.parse(ended.at(-1) ?? '')).toMatchObject({
        error: { code: 'dispatch.upstream_unavailable' },
      });
      expect(ended).not.toContain('[DONE]');
      await desk.restore();
      await untilOk('desk');
      expect(dataOf(running.text())).toEqual(ended);
      // The kernel may deliver the waiting request now; its answer goes nowhere, and it was sent once.
      expect(receivedTwice(atDesk)).toEqual([]);
    },
    3 * MINUTE,
  );

  it(
    'health returns by a probe, without a request of a caller',
    async () => {
      await desk.cut();
      const refused = await Promise.all([post(ALONE, 'finds it down'), post(ALONE, 'finds it down too')]);
      expect(refused.map(({ status }) => status)).toEqual([502, 502]);
      expect(await healthOf('desk')).toBe('down');
      const received = atDesk.received.length;
      await desk.restore();
      await untilOk('desk');
      expect(atDesk.received.slice(received)).toEqual([]);
      expect((await post(ALONE, 'after the probe')).status).toBe(200);
    },
    3 * MINUTE,
  );
});
