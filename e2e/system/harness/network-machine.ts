import { runProgram } from './program.ts';
import { Unavailable } from './unavailable.ts';

const LIMIT = { limitMs: 10_000 };
const ip = (...args: readonly string[]) => runProgram('ip', args, LIMIT);

/** Number of machines of this process, for their names and addresses. */
let count = 0;

/**
 * A separate machine in the network: a namespace with one cable to this machine. `cut` takes the cable away at the other
 * end: packets get lost, and nothing refuses a connection. A restored cable delivers what is sent again.
 */
export class NetworkMachine {
  /** The address of the machine. */
  readonly address: string;
  readonly #name: string;

  private constructor(name: string, address: string) {
    this.#name = name;
    this.address = address;
  }

  /** Creates a machine. Throws `Unavailable` where this process may not: it needs root and iproute2. */
  static async create(): Promise<NetworkMachine> {
    const number = count++;
    const name = `svc${process.pid}-${number}`;
    const [inside, outside] = [`${name}i`, `${name}o`];
    // 198.18.0.0/15 is for tests of networks (RFC 2544): nothing else uses it.
    const net = `198.18.${process.pid % 256}.${4 * (number % 64)}`;
    const [here, there] = [1, 2].map((host) => net.replace(/\d+$/, (last) => String(Number(last) + host)));
    const machine = new NetworkMachine(name, there as string);
    try {
      await ip('netns', 'add', name);
    } catch (error) {
      throw new Unavailable(`network namespaces need root and iproute2 (${(error as Error).message})`);
    }
    try {
      await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside);
      await ip('link', 'set', inside, 'netns', name);
      await ip('address', 'add', `${here}/30`, 'dev', outside);
      await ip('link', 'set', outside, 'up');
      await ip('-n', name, 'address', 'add', `${there}/30`, 'dev', inside);
      await ip('-n', name, 'link', 'set', inside, 'up');
      await ip('-n', name, 'link', 'set', 'lo', 'up');
    } catch (error) {
      await machine.remove();
      throw new Unavailable(`a network link could not be made (${(error as Error).message})`);
    }
    return machine;
  }

  /** The words before a program that shall run on this machine. The process is replaced by the program. */
  get prefix(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /** Path of its network namespace, for programs that enter it themselves. */
  get namespace(): string {
    return `/run/netns/${this.#name}`;
  }

  async cut(): Promise<void> {
    await ip('-n', this.#name, 'link', 'set', `${this.#name}i`, 'down');
  }

  async restore(): Promise<void> {
    await ip('-n', this.#name, 'link', 'set', `${this.#name}i`, 'up');
  }

  /** Removes the namespace and its cable. Programs in it must have ended. */
  async remove(): Promise<void> {
    await ip('link', 'delete', `${this.#name}o`).catch(() => {});
    await ip('netns', 'delete', this.#name);
  }
}
