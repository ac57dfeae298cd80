import type { SlotStateName } from '../../contract/slots.ts';
import { silentLog } from '../../lib/log.ts';
import { readSlotFile, type SlotConfig } from '../config/slot-file.ts';
import { embedded } from '../engines/embedded.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { OwnerParts } from '../lifecycle/controller-deps.ts';
import type { Lease, ReadyOptions } from '../lifecycle/lease.ts';
import { signOfLife } from '../lifecycle/liveness-probe.ts';
import { Owner } from '../lifecycle/slot-controller.ts';
import { noModelError } from '../refusals.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { ScriptedRunner } from './scripted-runner.ts';

export const MODEL: SlotModel = {
  id: 'tiny',
  path: '/m/tiny.gguf',
  type: 'llm',
  demo: false,
  sizeBytes: 1000,
  contextTrain: 512,
};

export const slotConfig = (name = 'agent', text = ''): SlotConfig => {
  const { config, problems } = readSlotFile(`${name}.toml`, text);
  if (config === null) throw new Error(JSON.stringify(problems));
  return config;
};

/** One owner over scripted engines and a clock that the test moves. */
export class OwnerBench {
  readonly clock = new ManualClock();
  readonly runner = new ScriptedRunner();
  readonly states: SlotStateName[] = [];
  /** What was told of its engines. */
  readonly told: string[] = [];
  readonly owner: Owner;
  model: SlotModel | null = MODEL;
  gpuNote: string | null = null;
  queueMax = 64;
  /** Thrown by the next admissions. */
  refusal: Error | null = null;
  /** Slots that the next admissions have it wait for; null lets it through. */
  waitFor: readonly string[] | null = null;
  /** Those that wait may still be refused. */
  undecided = false;
  /** How often it has given up its place in the line. */
  left = 0;
  check: OwnerParts['check'] = async () => {};
  /** Signs of life of the ready engine. */
  sign: () => Promise<unknown> = async () => {};
  answersWhileServing = true;

  constructor(text = '', name = 'agent') {
    const config = slotConfig(name, text);
    this.owner = new Owner(config, {
      clock: this.clock,
      log: silentLog(),
      queueMax: () => this.queueMax,
      loadWaitMs: (stream) => (stream ? 600_000 : 300_000),
      model: () => this.model,
      admit: (current) => {
        if (this.refusal !== null) throw this.refusal;
        if (this.model === null) throw noModelError(current.name, 'The slot has no model.');
        const order = { config: current, model: this.model, threads: 1, queueLimit: 64 };
        const launch = embedded.plan(order);
        const admitted = {
          launch,
          pool: 'host',
          neededBytes: 1,
          needSource: 'estimated' as const,
          estimatedBytes: 1,
          weightBytes: 1,
        };
        return this.waitFor === null
          ? { kind: 'start' as const, admitted }
          : { kind: 'wait' as const, for: this.waitFor, ...(this.undecided && { undecided: true as const }) };
      },
      leaveLine: () => {
        this.left += 1;
      },
      ready: () => void this.told.push('ready'),
      served: () => {},
      ended: () => void this.told.push('ended'),
      failed: () => void this.told.push('failed'),
      start: (_, launch) => this.runner.start(launch),
      check: (...args) => this.check(...args),
      signOfLife: (_, launch) => signOfLife({ answersWhileServing: this.answersWhileServing }, launch),
      ask: async () => {
        await this.sign();
        return { status: 200, body: '' };
      },
      residentBytes: () => null,
      gpuNote: () => this.gpuNote,
      changed: () => this.#changed(),
    });
    this.states.push(this.state);
  }

  get state(): SlotStateName {
    return this.owner.record().state;
  }

  /** Asks for the slot; an outcome that nobody looks at is no stray rejection. */
  ask(over: Partial<ReadyOptions> = {}): Promise<Lease> {
    const asked = this.owner.ensureReady({ signal: new AbortController().signal, stream: false, ...over });
    asked.catch(() => {});
    return asked;
  }

  /** Fails `times` loads in a row, the first by a request and the others by the back-off. */
  async failTimes(times: number): Promise<void> {
    this.runner.instant = false;
    this.ask();
    for (let time = 0; time < times; time++) {
      if (time > 0) await this.clock.advance([5_000, 15_000, 45_000, 135_000][time - 1] ?? 0);
      await settle();
      this.runner.last.end(`failure ${time + 1}`);
      await settle();
    }
    this.runner.instant = true;
  }

  #changed(): void {
    if (this.owner === undefined) return;
    const { state } = this;
    if (this.states.at(-1) !== state) this.states.push(state);
  }
}
