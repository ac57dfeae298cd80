import fc from 'fast-check';
import { expect, it } from 'vitest';
import { scale, seed } from '../test/harness/scale.ts';
import type { AllUpstreams } from '../upstreams/port.ts';
import { UpstreamsBench } from '../upstreams/testing/bench.ts';
import type { Upstreams } from './ports.ts';
import { post, type TestResponse } from './testing/client.ts';
import { openGateway, TestSlots } from './testing/gateway.ts';
import { type Receipt, ScriptedUpstream } from './testing/scripted-upstream.ts';

const NAMES = ['a', 'b', 'c'] as const;
const STEPS = [
  'request',
  'stream',
  'finish',
  'suspend',
  'hang',
  'resume',
  'kill',
  'refuse',
  'start',
  'busy',
  'break',
  'heal',
  'wait',
] as const;
type Step = (typeof STEPS)[number];
/** Steps after which a request may end with an error. */
const FAULTS: ReadonlySet<Step> = new Set(['hang', 'kill', 'refuse', 'busy', 'break', 'suspend']);

/** Short, because a suspended upstream never answers. A healthy one that is slower is declared down, which is permitted. */
const PROBE_LIMIT_MS = 300;
const LIMIT_MS = 60_000;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

interface Outcome {
  readonly user: string;
  readonly stream: boolean;
  readonly response: TestResponse | 'no response';
}

/** One random schedule: a gateway with three upstreams, callers, and an account of what each upstream received. */
class Schedule {
  readonly bench = new UpstreamsBench();
  readonly receipts: Receipt[] = [];
  readonly upstreams: readonly ScriptedUpstream[];
  readonly outcomes: Outcome[] = [];
  /** The calls that ended because their upstream was declared down, each with the number of receipts so far. */
  readonly downs: { readonly upstream: string; readonly receipts: number }[] = [];
  readonly #calls: Promise<void>[] = [];
  #users = 0;
  #faults = 0;

  constructor() {
    this.upstreams = NAMES.map((name) => new ScriptedUpstream(name, this.receipts));
  }

  async run(steps: readonly (readonly [Step, number])[]): Promise<void> {
    await Promise.all(this.upstreams.map((each) => each.start()));
    for (const { name, url } of this.upstreams)
      this.bench.file(name, `base_url = "${url}"\nmodels = ["m"]\nremote = false\n`);
    const upstreams = this.#watched(this.bench.open({ hangTickMs: 5, probeLimitMs: PROBE_LIMIT_MS }));
    const gateway = await openGateway({ slots: new TestSlots([]), upstreams });
    try {
      for (const [step, pick] of steps) await this.#take(step, pick, gateway.origin);
      await this.#settle();
      this.#check();
    } finally {
      await gateway.close();
      await Promise.all(this.upstreams.map((each) => each.refuse()));
      await this.bench.remove();
    }
  }

  /** Records the calls that end because their upstream was declared down. */
  #watched(upstreams: AllUpstreams): Upstreams {
    return {
      list: () => upstreams.list(),
      refreshCold: (signal) => upstreams.refreshCold(signal),
      refusal: (name, target) => upstreams.refusal(name, target),
      readList: (name, signal) => upstreams.readList(name, signal),
      connect: (name, options) => {
        const call = upstreams.connect(name, options);
        const onDown: typeof call.onDown = (listener) =>
          call.onDown((reason) => {
            this.downs.push({ upstream: name, receipts: this.receipts.length });
            listener(reason);
          });
        return { ...call, onDown };
      },
    };
  }

  async #take(step: Step, pick: number, origin: string): Promise<void> {
    if (FAULTS.has(step)) this.#faults++;
    const upstream = this.upstreams[pick % this.upstreams.length] as ScriptedUpstream;
    const act: Record<Step, () => unknown> = {
      request: () => this.#call(origin, 1 + (pick % 3), false),
      stream: () => this.#call(origin, 1 + (pick % 3), true),
      finish: () => upstream.finish(),
      suspend: () => upstream.suspend(),
      hang: () => this.#untilFound(upstream),
      resume: () => upstream.resume(),
      kill: () => upstream.kill(),
      refuse: () => upstream.refuse(),
      start: () => upstream.start(),
      busy: () => {
        upstream.isBusy = true;
      },
      break: () => {
        upstream.breaks = true;
      },
      heal: () => {
        upstream.isBusy = upstream.breaks = false;
      },
      wait: () => this.bench.wait([1_000, 6_000, 12_000, 31_000][pick % 4] as number),
    };
    await act[step]();
    if (pick % 2 === 0) await pause(pick % 7);
  }

  #call(origin: string, count: number, stream: boolean): void {
    for (let index = 0; index < count; index++) {
      const user = `user-${++this.#users}`;
      const messages = [{ role: 'user', content: user }];
      const body = { model: 'm', user, messages, ...(stream && { stream }) };
      const outcome = (response: Outcome['response']) => this.outcomes.push({ user, stream, response });
      this.#calls.push(
        post(origin, '/v1/chat/completions', body).then(outcome, () => outcome('no response')) as never,
      );
    }
  }

  /** Suspends an upstream. One that holds a request must be declared down, and its waiting requests end. */
  async #untilFound(upstream: ScriptedUpstream): Promise<void> {
    upstream.suspend();
    const waiting = () =>
      this.receipts.filter(({ upstream: name, fate }) => name === upstream.name && fate === 'waiting').length;
    const end = Date.now() + LIMIT_MS;
    while (waiting() > 0) {
      if (Date.now() > end) throw new Error(`${upstream.name} hangs, and nothing found it`);
      this.bench.wait(5_000);
      await pause(20);
    }
  }

  /** Ends all faults, and waits until every caller has its answer or error. */
  async #settle(): Promise<void> {
    let isSettled = false;
    void Promise.all(this.#calls).then(() => {
      isSettled = true;
    });
    const end = Date.now() + LIMIT_MS;
    while (!isSettled) {
      if (Date.now() > end) throw new Error('a caller has neither an answer nor an error');
      for (const upstream of this.upstreams) {
        await upstream.start();
        upstream.isBusy = upstream.breaks = false;
        upstream.resume();
        upstream.finish();
      }
      this.bench.wait(1_000);
      await pause(5);
    }
  }

  #check(): void {
    expect(this.outcomes.map(({ user }) => user).sort()).toEqual(
      Array.from({ length: this.#users }, (_, index) => `user-${index + 1}`).sort(),
    );
    for (const outcome of this.outcomes) this.#checkOutcome(outcome);
  }

  #checkOutcome({ user, stream, response }: Outcome): void {
    const received = this.receipts.filter((receipt) => receipt.user === user);
    const names = received.map(({ upstream }) => upstream);
    // No upstream that received a request gets it again.
    expect([user, names]).toEqual([user, [...new Set(names)]]);
    for (const receipt of received.slice(0, -1)) {
      const { upstream, fate } = receipt;
      if (fate === 'busy' || this.#wasDown(receipt)) continue;
      throw new Error(`${user} was sent again after ${upstream}: ${fate}`);
    }
    if (response !== 'no response' && isAnswer(response, stream)) {
      const by = received.find(({ upstream }) => response.body.includes(`${upstream} served ${user}"`));
      expect([user, by?.fate]).toEqual([user, 'answered']);
      return;
    }
    expect(this.#faults, `${user} failed without a fault: ${JSON.stringify(response)}`).toBeGreaterThan(0);
    // An answer that was complete is not lost, unless its upstream was down before.
    const lost = received.filter((receipt) => receipt.fate === 'answered' && !this.#wasDown(receipt));
    expect([user, response, lost]).toEqual([user, response, []]);
    if (response !== 'no response' && response.whole) expect(response.body).toContain('"error"');
  }

  /** Whether the upstream of a request was declared down after it had received it. */
  #wasDown(receipt: Receipt): boolean {
    const at = this.receipts.indexOf(receipt);
    return this.downs.some(({ upstream, receipts }) => upstream === receipt.upstream && receipts > at);
  }
}

/** Whether a response is a complete answer. A stream that ends without `[DONE]` is none. */
function isAnswer(response: TestResponse, stream: boolean): boolean {
  if (response.status !== 200 || !response.whole) return false;
  return stream ? response.body.trimEnd().endsWith('data: [DONE]') : !response.body.includes('"error"');
}

/** Schedules that run at the same time: most of them wait for a probe. */
const AT_ONCE = 8;

it('no schedule of hang, refusal, break, kill, suspend and release loses or doubles a request', async () => {
  const step = fc.tuple(fc.constantFrom(...STEPS, 'request', 'stream', 'request'), fc.nat(1_000));
  const schedules = fc.sample(fc.array(step, { minLength: 4, maxLength: 30 }), {
    numRuns: scale(2_000),
    seed: seed('failover-schedules'),
  });
  const next = schedules.entries();
  const worker = async () => {
    for (const [index, steps] of next)
      await new Schedule().run(steps).catch((cause: unknown) => {
        throw new Error(`schedule ${index}: ${JSON.stringify(steps)}\n${String(cause)}`, { cause });
      });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}, 86_400_000);
