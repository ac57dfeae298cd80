/** Claude Code against the embedded engine: a small real model in llama.cpp calls its tool, and answers after the result. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TINY_REPLY, tinyChat } from '../../../../daemon/models/testing/gguf/tiny-chat.ts';
import { CLIENT_KEY, startLocked } from '../../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../../daemon/test/harness/one-gateway.ts';
import { waitForSlotState } from '../../../../daemon/test/harness/slots.ts';
import { endWell } from '../../harness/isolated.ts';
import { type Relay, relayTo } from '../../harness/relay.ts';
import { availableOrSkip } from '../../harness/unavailable.ts';
import { claudeCode } from './claude-code.ts';
import { Sessions } from './session.ts';

/** The prompt of Claude Code has about 60,000 tokens of this model, whose words are short. */
const WINDOW = 131_072;
const CALL = { name: 'Bash', args: { command: 'echo written > one.txt', description: 'Write a file' } };

const packages = await availableOrSkip('Claude Code with the embedded engine', claudeCode.install);

describe.skipIf(packages === null)('Claude Code with the embedded engine', () => {
  let relay: Relay;
  let sessions: Sessions;
  const gateway = new OneGateway(async () => {
    const started = await startLocked({
      models: { caller: tinyChat({ tool: CALL, context: WINDOW }) },
      files: { 'config/slots/agent.toml': `model = "caller"\ncontext = ${WINDOW}\ndevice = "cpu"\n` },
    });
    await waitForSlotState(started, 'agent', 'ready', CLIENT_KEY);
    return started;
  });
  beforeAll(async () => {
    relay = await relayTo(gateway.port);
    sessions = new Sessions(gateway, relay);
  });
  afterAll(async () => {
    await relay.stop();
    sessions.remove();
  });

  it('runs the command that the model calls for, and shows its answer', async () => {
    const place = sessions.place(packages ?? '');
    const program = await sessions.start(claudeCode, place, 'Write the file.', CLIENT_KEY, 'agent');
    expect(await endWell(program)).toContain(TINY_REPLY);
    expect(readFileSync(join(place.work, 'one.txt'), 'utf8')).toBe('written\n');
  });
});
