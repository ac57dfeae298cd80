import type { SlotStateName } from '../../contract/slots.ts';
import { silentLog } from '../../lib/log.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { readSlotFile } from '../config/slot-file.ts';
import { embedded } from '../engines/embedded.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { SlotControllerDeps } from '../lifecycle/controller-deps.ts';
import type { Lease, ReadyOptions } from '../lifecycle/lease.ts';
import { livenessProbe } from '../lifecycle/liveness-probe.ts';
import { SlotController } from '../lifecycle/slot-controller.ts';
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

/** One slot controller with scripted engines and a manual clock. */
export class ControllerBench {
  readonly clock = new ManualClock();
  readonly runner = new ScriptedRunner();
  readonly states: SlotStateName[] = [];
  /** The emitted events of its engines. */
  readonly events: string[] = [];
  readonly controller: SlotController;
  model: SlotModel | null = MODEL;
  gpuNote: string | null = null;
  queueMax = 64;
  /** Thrown by the next admissions. */
  refusal: Error | null = null;
  /** The slots that the next admissions make it wait for; null admits it. */
  waitsFor: readonly string[] | null = null;
  /** Whether waiting loads may still be refused. */
  undecided = false;
  /** How often its load was withdrawn. */
  withdrawals = 0;
  check: SlotControllerDeps['check'] = async () => {};
  /** The liveness probe of the ready engine. */
  probe: () => Promise<unknown> = async () => {};
  answersWhileServing = true;

  constructor(text = '', name = 'agent') {
    const config = slotConfig(name, text);
    this.controller = new SlotController(config, {
      clock: this.clock,
      log: silentLog(),
      queueMax: () => this.queueMax,
      loadWaitMs: (stream) => (stream ? 600_000 : 300_000),
      model: () => this.model,
      admit: (current) => {
        if (this.refusal !== null) throw this.refusal;
        if (this.model === null) throw noModelError(current.name, 'The slot has no model.');
        const params = { config: current, model: this.model, threads: 1, queueLimit: 64 };
        const launch = embedded.plan(params);
        const admitted = {
          launch,
          pool: 'host',
          neededBytes: 1,
          needSource: 'estimated' as const,
          estimatedBytes: 1,
          weightBytes: 1,
        };
        return this.waitsFor === null
          ? { kind: 'start' as const, admitted }
          : {
              kind: 'wait' as const,
              for: this.waitsFor,
              ...(this.undecided && { undecided: true as const }),
            };
      },
      withdrawLoad: () => {
        this.withdrawals += 1;
      },
      ready: () => void this.events.push('ready'),
      serving: () => {},
      served: () => {},
      ended: () => void this.events.push('ended'),
      failed: () => void this.events.push('failed'),
      start: (_, launch) => this.runner.start(launch),
      check: (...args) => this.check(...args),
      livenessProbe: (_, launch) => livenessProbe({ answersWhileServing: this.answersWhileServing }, launch),
      query: async () => {
        await this.probe();
        return { status: 200, body: '' };
      },
      residentBytes: () => null,
      gpuNote: () => this.gpuNote,
      changed: () => this.#changed(),
    });
    this.states.push(this.state);
  }

  get state(): SlotStateName {
    return this.controller.record().state;
  }

  /** Requests a lease. An ignored rejection is not reported as unhandled. */
  request(over: Partial<ReadyOptions> = {}): Promise<Lease> {
    const lease = this.controller.ensureReady({
      signal: new AbortController().signal,
      stream: false,
      ...over,
    });
    lease.catch(() => {});
    return lease;
  }

  /** Fails `times` loads in a row, the first by a request and the others by the back-off. */
  async failTimes(times: number): Promise<void> {
    this.runner.loadsAtOnce = false;
    this.request();
    for (let time = 0; time < times; time++) {
      if (time > 0) await this.clock.advance([5_000, 15_000, 45_000, 135_000][time - 1] ?? 0);
      await settle();
      this.runner.last.end(`failure ${time + 1}`);
      await settle();
    }
    this.runner.loadsAtOnce = true;
  }

  #changed(): void {
    if (this.controller === undefined) return;
    const { state } = this;
    if (this.states.at(-1) !== state) this.states.push(state);
  }
}
