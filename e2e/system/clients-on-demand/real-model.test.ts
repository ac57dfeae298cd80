/** pi with Qwen2.5-Coder-0.5B, a real model with real weights in the embedded engine. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_KEY, startLocked } from '../../../daemon/test/harness/gateway.ts';
import { waitForSlotState } from '../../../daemon/test/harness/slots.ts';
import { AgentGateway } from '../clients/agents/agent-gateway.ts';
import { endWell } from '../harness/isolated.ts';
import { qwen25 } from '../harness/real-models.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { pi } from './pi/agent.ts';

const LOAD_LIMIT_MS = 90_000;
const LIMIT_MS = 300_000;

const packages = await availableOrSkip('pi with a real model', pi.install);
const file = packages === null ? null : await availableOrSkip('pi with a real model', qwen25);

describe.skipIf(file === null)('pi with Qwen2.5-Coder-0.5B', () => {
  const gateway = new AgentGateway(
    () =>
      startLocked({
        env: { SVC_MODEL: file ?? '' },
        files: { 'config/slots/agent.toml': 'context = 16384\ndevice = "cpu"\n' },
      }),
    LIMIT_MS,
  );
  beforeAll(() => waitForSlotState(gateway, 'agent', 'ready', CLIENT_KEY, LOAD_LIMIT_MS));

  it(
    'runs a tool that the model calls, and ends',
    async () => {
      const place = gateway.sessions.place(packages ?? '', 'agent');
      const note = join(place.work, 'note.txt');
      const prompt = `Read the file ${note} with the read tool and tell me which colour it has.`;
      const program = await gateway.sessions.start(pi, place, prompt, CLIENT_KEY);
      // The answer is the model's: with other random numbers it can be empty.
      await endWell(program);
      const { recent } = (await gateway.sendAsAdmin('GET', '/api/requests?limit=50')).json<{
        recent: { status: number }[];
      }>();
      // Each result of a tool is another request.
      expect(recent.length).toBeGreaterThan(1);
      expect(recent.filter(({ status }) => status !== 200)).toEqual([]);
    },
    LIMIT_MS,
  );
});
