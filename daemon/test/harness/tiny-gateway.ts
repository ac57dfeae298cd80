import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import type { GgufModel } from '../../models/testing/gguf/writer.ts';
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
import { waitForSlotState } from './slots.ts';
import { openStream, type StreamedResponse } from './stream.ts';

/**
 * The prompt is the contents of all messages in order, then 5 or 1 for thinking on or off. The model's next token
 * depends on the last one only, so the answer shows which message came last and what the thinking switch was.
 */
const TEMPLATE =
  '{%- for message in messages %}{{ message.content }}{%- endfor %}' +
  '{%- if enable_thinking is defined %}{{ 5 if enable_thinking else 1 }}{%- endif %}';

/** A prompt after which the model repeats the alphabet until the window is full: seconds of work. */
export const ENDLESS = 'a';

/** Context window of slot `agent`: about ten seconds of streaming. */
export const WINDOW = 32_768;

/** The model that `startTiny` serves as `tiny`. */
export const tinyModel = (): GgufModel => tinyChat({ context: 65_536, template: TEMPLATE });

/** Starts a gateway whose slot `agent` serves a tiny model with a large window, and waits until it is ready. */
export async function startTiny(options: GatewayOptions = {}, key?: string): Promise<Gateway> {
  const home = options.home ?? newHome();
  const model = writeModel(home, 'tiny', tinyModel());
  const gateway = await startGateway({
    ...options,
    home,
    env: { SVC_MODEL: model, ...options.env },
    files: { 'config/slots/agent.toml': `context = ${WINDOW}\n`, ...options.files },
  });
  await waitForSlotState(gateway, 'agent', 'ready', key);
  return gateway;
}

/** The same with both keys, which it requires; `options` are added. */
export const startGuarded = ({ files, ...options }: GatewayOptions = {}): Promise<Gateway> =>
  startTiny(
    {
      ...options,
      files: { ...KEYS_FILE, 'config/config.toml': REQUIRE_AUTH, ...files },
    },
    ADMIN_KEY,
  );

/** Starts a chat that streams up to `tokens` tokens. Resolves when text arrives. */
export async function startLongStream(
  gateway: Gateway,
  model: string,
  tokens = 30_000,
  key?: string,
): Promise<StreamedResponse> {
  const messages = [{ role: 'user', content: ENDLESS }];
  const body = { model, messages, temperature: 0, max_tokens: tokens, stream: true };
  const streamed = await openStream(gateway, '/v1/chat/completions', body, { key });
  await until(() => streamed.text().length > 500, 'the stream to flow');
  return streamed;
}
