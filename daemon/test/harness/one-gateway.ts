import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { ADMIN_KEY, type Gateway } from './gateway.ts';
import { type Answer, type Ask, ask } from './http.ts';

export interface OneGatewayOptions {
  /** A new one for each test, not one for all of them. */
  each?: boolean;
  /** SIGKILL where a test leaves what a stop would wait for; default SIGTERM. */
  end?: NodeJS.Signals;
}

/** One gateway for a test file, or for the suite in which it is made: from the first test to the last, then it is removed. */
export class OneGateway implements Gateway {
  #running: Gateway | null = null;

  /** Hooks that are set up before it run before its start, and after its end: stand-ins that it needs belong there. */
  constructor(start: () => Promise<Gateway>, { each = false, end = 'SIGTERM' }: OneGatewayOptions = {}) {
    const [before, after] = each ? [beforeEach, afterEach] : [beforeAll, afterAll];
    before(() => this.again(start));
    after(async () => {
      await this.#running?.stop(end);
      this.#running?.remove();
      this.#running = null;
    });
  }

  get #gateway(): Gateway {
    if (this.#running === null) throw new Error('the gateway is not started');
    return this.#running;
  }

  get url(): string {
    return this.#gateway.url;
  }
  get port(): number {
    return this.#gateway.port;
  }
  get home(): string {
    return this.#gateway.home;
  }
  get pid(): number {
    return this.#gateway.pid;
  }
  get pipes(): readonly Readable[] {
    return this.#gateway.pipes;
  }

  output = (): string => this.#gateway.output();
  waitFor = (text: string, limitMs?: number): Promise<void> => this.#gateway.waitFor(text, limitMs);
  signal = (name: NodeJS.Signals): void => this.#gateway.signal(name);
  stop = (signal?: NodeJS.Signals): Promise<number | null> => this.#gateway.stop(signal);
  remove = (): void => this.#gateway.remove();

  /** Takes another in the place of one that has ended; it usually has the same home. */
  again = async (start: () => Promise<Gateway>): Promise<void> => {
    this.#running = await start();
  };

  /** Asks as an administrator, unless `options` names another key. */
  say = (method: string, path: string, options: Ask = {}): Promise<Answer> =>
    ask(this, method, path, { key: ADMIN_KEY, ...options });
}

/** A gateway that ends, and is removed, with the test that starts it. */
export async function forTest(start: Promise<Gateway>): Promise<Gateway> {
  const gateway = await start;
  onTestFinished(async () => {
    await gateway.stop();
    gateway.remove();
  });
  return gateway;
}
