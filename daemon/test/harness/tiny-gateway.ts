import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import type { GgufModel } from '../../models/gguf/writer.ts';
import {
  ADMIN_KEY,
  type Gateway,
  type GatewayOptions,
  KEYS_FILE,
  REQUIRE_AUTH,
  startGateway,
  until,
} from './gateway.ts';
import { newHome, writeModel } from './home.ts';
import { slotState } from './slots.ts';
import { openStream, type Streamed } from './stream.ts';

/**
 * The prompt is the contents of all messages in order, then 5 or 1 for thinking on or off. The model's next token
 * depends on the last one only, so the answer shows which message came last and what the thinking switch was.
 */
const TEMPLATE =
  '{%- for message in messages %}{{ message.content }}{%- endfor %}' +
  '{%- if enable_thinking is defined %}{{ 5 if enable_thinking else 1 }}{%- endif %}';

/** A text after which the model counts through the alphabet until the window is full: seconds of work. */
export const ENDLESS = 'a';

/** Window of slot `agent` below: about ten seconds of streaming. */
export const WINDOW = 32_768;

/** The model that `startTiny` serves as `tiny`. */
export const tinyModel = (): GgufModel => tinyChat({ context: 65_536, template: TEMPLATE });

/** Starts a gateway whose slot `agent` serves a real, tiny model with a wide window, and waits until it is ready. */
export async function startTiny(options: GatewayOptions = {}, key?: string): Promise<Gateway> {
  const home = options.home ?? newHome();
  const model = writeModel(home, 'tiny', tinyModel());
  const gateway = await startGateway({
    ...options,
    home,
    env: { SVC_MODEL: model, ...options.env },
    files: { 'config/slots/agent.toml': `context = ${WINDOW}\n`, ...options.files },
  });
  await slotState(gateway, 'agent', 'ready', key);
  return gateway;
}

/** The same with both keys, which it demands, on and above `options`. */
export const startGuarded = ({ files, ...options }: GatewayOptions = {}): Promise<Gateway> =>
  startTiny(
    {
      ...options,
      files: { ...KEYS_FILE, 'config/config.toml': REQUIRE_AUTH, ...files },
    },
    ADMIN_KEY,
  );

/** A chat that slot or model `model` streams until it is cut or `tokens` have come, and that is flowing already. */
export async function flowing(
  gateway: Gateway,
  model: string,
  tokens = 30_000,
  key?: string,
): Promise<Streamed> {
  const messages = [{ role: 'user', content: ENDLESS }];
  const body = { model, messages, temperature: 0, max_tokens: tokens, stream: true };
  const streamed = await openStream(gateway, '/v1/chat/completions', body, { key });
  await until(() => streamed.text().length > 500, 'the stream to flow');
  return streamed;
}
