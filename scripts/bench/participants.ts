import { startAbortTarget } from './client-abort.ts';
import { startEngines } from './engines.ts';
import { startGatewayUnderTest } from './gateway-under-test.ts';
import type { Machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { type PortkeyName, startPortkey } from './portkey.ts';
import { withSideLoads } from './side-load.ts';
import { startDirect, startNginx, type Target, target } from './targets.ts';

/**
 * Who takes part: the path of a request (`path`), also that of another gateway (`peers`; `chats` on both lines of Node), or with a
 * gateway of ours that has done nothing before (`fresh`); ours with and without what it does beside (`sides`); the engines; callers who leave; and ours
 * alone, running (`alone`) or not started yet (`start`).
 */
export type GroupName =
  | 'path'
  | 'peers'
  | 'chats'
  | 'fresh'
  | 'side-load'
  | 'engines'
  | 'disconnect'
  | 'alone'
  | 'start';

/** The other gateways of a cast. */
const PORTKEYS: Readonly<Partial<Record<GroupName, readonly PortkeyName[]>>> = {
  peers: ['portkey'],
  chats: ['portkey', 'portkey-24'],
};

export interface ParticipantGroup {
  readonly targets: readonly Target[];
  /** Ends those who took part in one scenario only. */
  end(): Promise<void>;
}

/** Warms a target before it is measured. */
export type WarmUp = (direct: Target, target: Target) => Promise<unknown>;

/** Starts who takes part, each when it is first needed and once. */
export class Participants {
  readonly #machine: Machine;
  readonly #options: BenchOptions;
  readonly #warmUp: WarmUp;
  readonly #started = new Map<string, Promise<unknown>>();

  constructor(machine: Machine, options: BenchOptions, warmUp: WarmUp) {
    this.#machine = machine;
    this.#options = options;
    this.#warmUp = warmUp;
  }

  /** Those who play `name`; nobody when what it needs is not here. */
  async group(name: GroupName): Promise<ParticipantGroup> {
    if (name === 'fresh') return this.#fresh();
    return { targets: await this.#shared(name), end: async () => {} };
  }

  async #shared(name: Exclude<GroupName, 'fresh'>): Promise<readonly Target[]> {
    if (name === 'engines') return this.#once(name, () => startEngines(this.#machine));
    if (name === 'disconnect') return this.#once(name, async () => [await startAbortTarget(this.#machine)]);
    if (name === 'start') return [target('ours', 0, 0)];
    const ours = await this.#gatewayUnderTest;
    if (name === 'alone') return [ours];
    if (name === 'side-load') return withSideLoads(ours);
    const targets = [...(await this.#baselines()), ours];
    for (const other of PORTKEYS[name] ?? []) {
      const portkey = await this.#portkey(other);
      if (portkey !== null) targets.push(portkey);
    }
    return targets;
  }

  async #fresh(): Promise<ParticipantGroup> {
    const before = await this.#baselines();
    // Not warmed by chats: what it holds over idle is that of the scenario, whose first run is not counted.
    const ours = await this.#start();
    return { targets: [...before, ours], end: () => this.#machine.stop(ours.pid) };
  }

  /** What the gateways are compared with on the path. */
  async #baselines(): Promise<Target[]> {
    const direct = await this.#direct();
    const nginx = await this.#once('nginx', async () => {
      const started = this.#options.nginx ? await startNginx(this.#machine, direct) : null;
      return started && this.#warm(started);
    });
    return nginx === null ? [direct] : [direct, nginx];
  }

  #direct(): Promise<Target> {
    return this.#once('direct', () => startDirect(this.#machine));
  }

  /** The gateway that most scenarios share. */
  get #gatewayUnderTest(): Promise<Target> {
    return this.#once('ours', () => this.#newGateway());
  }

  /** Ends that gateway, if it was ever needed. */
  async stopGatewayUnderTest(): Promise<void> {
    if (this.#started.has('ours')) await this.#machine.stop((await this.#gatewayUnderTest).pid);
  }

  async #start(): Promise<Target> {
    return startGatewayUnderTest(this.#machine, await this.#direct(), this.#options.profile ?? undefined);
  }

  async #newGateway(): Promise<Target> {
    return this.#warm(await this.#start());
  }

  #portkey(name: PortkeyName): Promise<Target | null> {
    return this.#once(name, async () => {
      const isEnabled = this.#options.portkey;
      const started = isEnabled ? await startPortkey(this.#machine, await this.#direct(), name) : null;
      return started && this.#warm(started);
    });
  }

  /** A target that has answered for a while. */
  async #warm(started: Target): Promise<Target> {
    await this.#warmUp(await this.#direct(), started);
    return started;
  }

  #once<T>(name: string, start: () => Promise<T>): Promise<T> {
    const running = (this.#started.get(name) as Promise<T> | undefined) ?? start();
    this.#started.set(name, running);
    return running;
  }
}
