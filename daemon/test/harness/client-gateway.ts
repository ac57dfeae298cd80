import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHATML } from '../../models/gguf/chat-templates.ts';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../models/gguf/tiny-embed.ts';
import { tinyRerank } from '../../models/gguf/tiny-rerank.ts';
import { encodeGguf, type GgufModel } from '../../models/gguf/writer.ts';
import { CLIENT_KEY, type Gateway, KEYS_FILE, startGateway } from './gateway.ts';
import { slotState } from './tiny-gateway.ts';

const timeIn = (zone: string) =>
  `<tool_call>\n{"name": "get_time", "arguments": {"zone": "${zone}"}}\n</tool_call>\n`;

/** Length of the vectors of model `vectors`. */
export const VECTOR_SIZE = 64;

/**
 * `chat` calls `get_time` once when tools are offered, and answers after the result; `pair` always makes two calls at once;
 * `vectors` embeds, `ranks` ranks.
 */
const MODELS: Record<string, () => GgufModel> = {
  chat: () => tinyChat(),
  pair: () => tinyChat({ template: CHATML, script: [timeIn('UTC'), timeIn('CET')] }),
  vectors: () => tinyEmbed({ size: VECTOR_SIZE }),
  ranks: () => tinyRerank(),
};

/** A gateway with enforcement on and one real model for each thing that clients of /v1 ask for; `agent` serves `chat`. */
export async function startForClients(files: Record<string, string> = {}): Promise<Gateway> {
  const home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const folder = join(home, 'state', 'models');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [id, model] of Object.entries(MODELS))
    writeFileSync(join(folder, `${id}.gguf`), encodeGguf(model()));
  const gateway = await startGateway({
    home,
    env: { SVC_REQUIRE_AUTH: 'on' },
    files: { ...KEYS_FILE, 'config/slots/agent.toml': 'model = "chat"\ncontext = 2048\n', ...files },
  });
  await slotState(gateway, 'agent', 'ready', CLIENT_KEY);
  return gateway;
}
