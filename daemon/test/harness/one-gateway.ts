import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { ADMIN_KEY, type Gateway } from './gateway.ts';
import { type HttpResponse, type SendOptions, send } from './http.ts';

export interface OneGatewayOptions {
  /** Start a new gateway for each test instead of one for all. */
  each?: boolean;
  /** Signal of the final stop. SIGKILL when a test leaves requests that a stop would wait for; default SIGTERM. */
  stopSignal?: NodeJS.Signals;
}

/** One gateway for a test file or `describe`: started before its first test, removed after its last. */
export class OneGateway implements Gateway {
  #running: Gateway | null = null;

  /** Hooks registered earlier run before the start and after the stop: start the stand-ins it needs there. */
  constructor(
    start: () => Promise<Gateway>,
    { each = false, stopSignal = 'SIGTERM' }: OneGatewayOptions = {},
  ) {
    const [before, after] = each ? [beforeEach, afterEach] : [beforeAll, afterAll];
    before(() => this.replace(start));
    after(async () => {
      await this.#running?.stop(stopSignal);
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

  /** Replaces a stopped gateway by another, usually with the same home. */
  replace = async (start: () => Promise<Gateway>): Promise<void> => {
    this.#running = await start();
  };

  /** Sends a request with the admin key, unless `options` has another. */
  sendAsAdmin = (method: string, path: string, options: SendOptions = {}): Promise<HttpResponse> =>
    send(this, method, path, { key: ADMIN_KEY, ...options });
}

/** Stops and removes a gateway at the end of the current test. */
export async function forTest(start: Promise<Gateway>): Promise<Gateway> {
  const gateway = await start;
  onTestFinished(async () => {
    await gateway.stop();
    gateway.remove();
  });
  return gateway;
}
