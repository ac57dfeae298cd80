import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { type HttpResponse, send } from './http.ts';

/** Three slots, each with its own model that replies with its name. */
export const COLOURS = ['red', 'green', 'blue'] as const;
export type Colour = (typeof COLOURS)[number];

/**
 * Each slot states its memory, so one always fits and two never do. A small voice (260 MB) fits alone. Estimated, a model takes
 * about 80 MB; measured, 140 to 190 MB and, on a machine with a Vulkan card, 230 MB.
 */
const SLOT_MEMORY = '200 MB';
const ONE_MODEL_BYTES = 265_000_000;
const WINDOW = 32_768;

/** The reply of the model of a slot. */
export const replyOf = (colour: Colour): string => `This is the ${colour} model speaking.`;

/** The slot file of a colour. */
export const slotFile = (colour: Colour): string =>
  `# The ${colour} one.\nmodel = "${colour}-model"\ncontext = ${WINDOW}\nparallel = 2\nmemory = "${SLOT_MEMORY}"\n`;

/** Starts a gateway with the three slots and memory for one model. `usedHome` is a home that already has them. */
export async function startThree(usedHome?: string, env: Record<string, string> = {}): Promise<Gateway> {
  if (usedHome !== undefined) return startGateway({ home: usedHome, env });
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

/** Sends a chat to one of the three, by the name of its slot or model. */
export const chatWith = (
  gateway: Gateway,
  colour: Colour,
  by: 'slot' | 'model' = 'slot',
): Promise<HttpResponse> =>
  send(gateway, 'POST', '/v1/chat/completions', {
    idleTimeoutMs: 600_000,
    body: {
      model: by === 'slot' ? colour : `${colour}-model`,
      messages: [{ role: 'user', content: 'x' }],
      temperature: 0,
      max_tokens: 16,
    },
  });

/** Returns how often the engine of a slot was started, by its log. */
export function engineStarts(gateway: Gateway, colour: Colour): number {
  try {
    const log = readFileSync(join(gateway.home, 'state', 'logs', `${colour}.log`), 'utf8');
    return log.split(`started ${colour}-model`).length - 1;
  } catch {
    return 0;
  }
}
