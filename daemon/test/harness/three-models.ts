import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { type Answer, ask } from './http.ts';

/** Three slots, each with a model of its own that says which one it is. */
export const COLOURS = ['red', 'green', 'blue'] as const;
export type Colour = (typeof COLOURS)[number];

/**
 * One of these models takes some 170 MB by the estimate; measured later, 140 to 190 MB and, where there is a card with Vulkan,
 * 230 MB. So one always fits, and two never.
 */
const ONE_MODEL_BYTES = 250_000_000;
/** Tokens of the window: its keys and values make the models large enough for that. */
const WINDOW = 32_768;

/** What the model of a slot answers to everything. */
export const replyOf = (colour: Colour): string => `This is the ${colour} model speaking.`;

/** Slot file of a colour. */
export const slotFile = (colour: Colour): string =>
  `# The ${colour} one.\nmodel = "${colour}-model"\ncontext = ${WINDOW}\nparallel = 2\n`;

/** A gateway with the three slots and room for one of their models at a time; `used` is a home that has them already. */
export async function startThree(used?: string, env: Record<string, string> = {}): Promise<Gateway> {
  if (used !== undefined) return startGateway({ home: used, env });
  const modelOf = (colour: Colour) =>
    tinyChat({ name: `${colour}-model`, reply: replyOf(colour), context: 65_536, runs: false });
  return startGateway({
    env,
    models: Object.fromEntries(COLOURS.map((colour) => [`${colour}-model`, modelOf(colour)])),
    files: {
      'config/config.toml': `[slots]\nmemory_limit = ${ONE_MODEL_BYTES}\n`,
      'config/slots/agent.toml': 'enabled = false\n',
      ...Object.fromEntries(COLOURS.map((colour) => [`config/slots/${colour}.toml`, slotFile(colour)])),
    },
  });
}

/** Asks one of the three, by the name of its slot or of its model. */
export const askFor = (gateway: Gateway, colour: Colour, by: 'slot' | 'model' = 'slot'): Promise<Answer> =>
  ask(gateway, 'POST', '/v1/chat/completions', {
    silenceMs: 600_000,
    body: {
      model: by === 'slot' ? colour : `${colour}-model`,
      messages: [{ role: 'user', content: 'x' }],
      temperature: 0,
      max_tokens: 16,
    },
  });

/** How often engines of a slot were started, by its log. */
export function startsOf(gateway: Gateway, colour: Colour): number {
  try {
    const log = readFileSync(join(gateway.home, 'state', 'logs', `${colour}.log`), 'utf8');
    return log.split(`started ${colour}-model`).length - 1;
  } catch {
    return 0;
  }
}
