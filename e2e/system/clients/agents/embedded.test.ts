/** Claude Code against the embedded engine: a small real model in llama.cpp calls its tool, and answers after the result. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TINY_REPLY, tinyChat } from '../../../../daemon/models/testing/gguf/tiny-chat.ts';
import { CLIENT_KEY, startLocked } from '../../../../daemon/test/harness/gateway.ts';
import { waitForSlotState } from '../../../../daemon/test/harness/slots.ts';
import { endWell } from '../../harness/isolated.ts';
import { availableOrSkip } from '../../harness/unavailable.ts';
import { AgentGateway } from './agent-gateway.ts';
import { claudeCode } from './claude-code.ts';

/** The prompt of Claude Code has about 60,000 tokens of this model, whose words are short. */
const WINDOW = 131_072;
const CALL = { name: 'Bash', args: { command: 'echo written > one.txt', description: 'Write a file' } };

const packages = await availableOrSkip('Claude Code with the embedded engine', claudeCode.install);

describe.skipIf(packages === null)('Claude Code with the embedded engine', () => {
  const gateway = new AgentGateway(async () => {
    const started = await startLocked({
      models: { caller: tinyChat({ tool: CALL, context: WINDOW }) },
      files: { 'config/slots/agent.toml': `model = "caller"\ncontext = ${WINDOW}\ndevice = "cpu"\n` },
    });
    await waitForSlotState(started, 'agent', 'ready', CLIENT_KEY);
    return started;
  });

  it('runs the command that the model calls for, and shows its answer', async () => {
    const place = gateway.sessions.place(packages ?? '', 'agent');
    const program = await gateway.sessions.start(claudeCode, place, 'Write the file.', CLIENT_KEY);
    expect(await endWell(program)).toContain(TINY_REPLY);
    expect(readFileSync(join(place.work, 'one.txt'), 'utf8')).toBe('written\n');
  });
});
