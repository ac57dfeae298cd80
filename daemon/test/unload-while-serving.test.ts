/**
 * docs/spec/contract.md#waiting-requests: requests that arrive while their slot is unloaded and loaded are all
 * served.
 */
import { expect, it } from 'vitest';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction } from './harness/slots.ts';
import { startTiny } from './harness/tiny-gateway.ts';

const CALLERS = 8;
const REQUESTS = 200;
/** Requests between two changes of the slot. */
const CHANGE_EVERY = 8;
const ACTIONS = ['unload', 'unload', 'load', 'restart'] as const;
const gateway = new OneGateway(startTiny);

const body = { messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 4 };
const NAMES = ['agent', 'tiny', 'svc/agent'];

it('200 requests while the slot is unloaded, restarted and loaded lose none', async () => {
  const failures: unknown[] = [];
  let sent = 0;
  const change = async (action: (typeof ACTIONS)[number]) => {
    const { status, code } = await runSlotAction(gateway, 'agent', action);
    // A load or a restart that an unload ended is refused; requests are not.
    if (status !== 200 && code !== 'slot.draining') failures.push([action, status, code]);
  };
  const caller = async () => {
    while (sent < REQUESTS) {
      const index = sent++;
      if (index % CHANGE_EVERY === 0)
        await change(ACTIONS[(index / CHANGE_EVERY) % ACTIONS.length] ?? 'load');
      const stream = index % 2 === 1;
      const model = NAMES[index % NAMES.length];
      const response = await send(gateway, 'POST', '/v1/chat/completions', {
        body: { ...body, model, stream },
        idleTimeoutMs: 60_000,
      });
      const isWhole = !stream || response.text.endsWith('data: [DONE]\n\n');
      if (response.status !== 200 || !isWhole) failures.push([model, response.status, response.text]);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  expect(failures).toEqual([]);
});
