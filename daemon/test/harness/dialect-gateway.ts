import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect } from 'vitest';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { CLIENT_KEY, type Gateway, startLocked } from './gateway.ts';
import { waitForSlotState } from './slots.ts';
import { openStream } from './stream.ts';

export const THOUGHTS = 'Let me see.';
export const ANSWER = 'It is noon.';
/** The tool call that the model of `agent` makes when tools are declared. */
export const CALL = { name: 'get_time', args: { zone: 'UTC' } };
/** Window of slot `agent`. */
export const AGENT_WINDOW = 2048;

/**
 * Starts a gateway that requires keys, with two tiny models: `agent` calls a tool when any is declared, else it answers;
 * `thinker` writes its reasoning before the answer.
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
  await waitForSlotState(gateway, 'agent', 'ready', CLIENT_KEY);
  return gateway;
}

/** Returns the events of a streamed Responses call. Checks that each event line names the type of its data. */
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
