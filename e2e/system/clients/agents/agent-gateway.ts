import { afterAll, beforeAll } from 'vitest';
import type { Gateway } from '../../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../../daemon/test/harness/one-gateway.ts';
import { type Relay, relayTo } from '../../harness/relay.ts';
import { Sessions } from './session.ts';

/** One gateway for a `describe`, with sessions of agents that reach it through a relay. Removed after its last test. */
export class AgentGateway extends OneGateway {
  #relay: Relay | null = null;
  #sessions: Sessions | null = null;

  /** A session is killed after `sessionLimitMs`. */
  constructor(start: () => Promise<Gateway>, sessionLimitMs?: number) {
    super(start);
    beforeAll(async () => {
      this.#relay = await relayTo(this.port);
      this.#sessions = new Sessions(this, this.#relay, sessionLimitMs);
    });
    afterAll(async () => {
      await this.#relay?.stop();
      this.#sessions?.remove();
    });
  }

  get relay(): Relay {
    if (this.#relay === null) throw new Error('the relay is not started');
    return this.#relay;
  }

  get sessions(): Sessions {
    if (this.#sessions === null) throw new Error('the sessions are not started');
    return this.#sessions;
  }
}
