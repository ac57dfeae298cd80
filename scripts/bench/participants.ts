import { startAbortTarget } from './client-abort.ts';
import { startEngines } from './engines.ts';
import { startGatewayUnderTest } from './gateway-under-test.ts';
import type { Machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { type PortkeyName, startPortkey } from './portkey.ts';
import { withSideLoads } from './side-load.ts';
import { startDirect, startNginx, type Target, target } from './targets.ts';

/**
 * The targets of a scenario. `path`: the mock, nginx and our gateway. `peers`: also Portkey's gateway; `chats`: on two versions
 * of Node. `fresh`: like `path`, with a newly started gateway. `side-load`: our gateway with and without side loads.
 * `engines`: llama-server and the embedded engine. `disconnect`: our gateway with real engines. `alone`: our gateway only.
 * `start`: our gateway, not started.
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

/** The other gateways of a group. */
const PORTKEYS: Readonly<Partial<Record<GroupName, readonly PortkeyName[]>>> = {
  peers: ['portkey'],
  chats: ['portkey', 'portkey-24'],
};

export interface ParticipantGroup {
  readonly targets: readonly Target[];
  /** Ends the targets that serve one scenario only. */
  end(): Promise<void>;
}

/** Warms a target before it is measured. */
export type WarmUp = (direct: Target, target: Target) => Promise<unknown>;

/** Starts each target once, at its first use. */
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

  /** Returns the targets of a group; none when a required program is missing. */
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
    // No warm-up with chats, so that memory above idle is that of the scenario alone. Its first run is not counted.
    const ours = await this.#start();
    return { targets: [...before, ours], end: () => this.#machine.stop(ours.pid) };
  }

  /** The targets that gateways are compared with on the path. */
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

  /** Ends the shared gateway if it was started. */
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

  /** Warms a target and returns it. */
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
