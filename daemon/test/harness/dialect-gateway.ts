import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect } from 'vitest';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import { CLIENT_KEY, type Gateway, startLocked } from './gateway.ts';
import { slotState } from './slots.ts';
import { openStream } from './stream.ts';

export const THOUGHTS = 'Let me see.';
export const ANSWER = 'It is noon.';
/** What the agent's model calls when it is offered tools. */
export const CALL = { name: 'get_time', args: { zone: 'UTC' } };
/** Window of slot `agent`. */
export const AGENT_WINDOW = 2048;

/**
 * A guarded gateway with two real, tiny models: `agent` calls a tool when it is offered any and speaks otherwise, `thinker`
 * thinks before its answer.
 */
export async function startDialects(): Promise<Gateway> {
  const gateway = await startLocked({
    models: {
      talker: tinyChat({ tool: CALL }),
      ponderer: tinyChat({ script: ['<think>', `\n${THOUGHTS}\n`, '</think>', `\n\n${ANSWER}`] }),
    },
    files: {
      'config/slots/agent.toml': `model = "talker"\ncontext = ${AGENT_WINDOW}\n`,
      'config/slots/thinker.toml': 'model = "ponderer"\ncontext = 1024\n',
    },
  });
  await slotState(gateway, 'agent', 'ready', CLIENT_KEY);
  return gateway;
}

/** The events of a streamed Responses call as they stand on the wire; each stands under its own name. */
export async function responseEvents(gateway: Gateway, body: object): Promise<ResponseStreamEvent[]> {
  const stream = await openStream(gateway, '/v1/responses', { ...body, stream: true }, { key: CLIENT_KEY });
  expect(await stream.ended).toBe(true);
  const blocks = stream
    .text()
    .split('\n\n')
    .filter((block) => block.startsWith('event: '));
  return blocks.map((block) => {
    const [name, data] = block.split('\n');
    const event = JSON.parse(data?.slice('data: '.length) ?? '') as ResponseStreamEvent;
    expect(name).toBe(`event: ${event.type}`);
    return event;
  });
}
