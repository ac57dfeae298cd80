import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../../models/testing/gguf/tiny-rerank.ts';
import { CLIENT_KEY, type Gateway, startLocked } from './gateway.ts';
import { waitForSlotState } from './slots.ts';

const timeIn = (zone: string) =>
  `<tool_call>\n{"name": "get_time", "arguments": {"zone": "${zone}"}}\n</tool_call>\n`;

/** Length of the vectors of model `vectors`. */
export const VECTOR_SIZE = 64;

/**
 * `chat` calls `get_time` once when tools are declared, and answers after the result; `pair` always makes two calls at once;
 * `vectors` embeds, `ranks` ranks.
 */
const models = () => ({
  chat: tinyChat(),
  pair: tinyChat({ template: CHATML, script: [timeIn('UTC'), timeIn('CET')] }),
  vectors: tinyEmbed({ size: VECTOR_SIZE }),
  ranks: tinyRerank(),
});

/** Starts a gateway with enforcement on and one real model for each capability of /v1. Slot `agent` serves `chat`. */
export async function startForClients(files: Record<string, string> = {}): Promise<Gateway> {
  const gateway = await startLocked({
    models: models(),
    files: { 'config/slots/agent.toml': 'model = "chat"\ncontext = 2048\n', ...files },
  });
  await waitForSlotState(gateway, 'agent', 'ready', CLIENT_KEY);
  return gateway;
}
