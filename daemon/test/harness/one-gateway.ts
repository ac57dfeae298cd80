import { afterAll, beforeAll } from 'vitest';
import { ADMIN_KEY, type Gateway } from './gateway.ts';
import { type Answer, type Ask, ask } from './http.ts';

/** One gateway for a test file, or for the suite in which it is made: from the first test to the last. */
export class OneGateway {
  #gateway: Gateway | null = null;

  constructor(start: () => Promise<Gateway>) {
    beforeAll(async () => {
      this.#gateway = await start();
    });
    afterAll(async () => {
      await this.#gateway?.stop();
      this.#gateway?.remove();
    });
  }

  get gateway(): Gateway {
    if (this.#gateway === null) throw new Error('the gateway is not started');
    return this.#gateway;
  }

  /** Asks as an administrator, unless `options` names another key. */
  say = (method: string, path: string, options: Ask = {}): Promise<Answer> =>
    ask(this.gateway, method, path, { key: ADMIN_KEY, ...options });
}
