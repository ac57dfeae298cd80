import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SlotRecord } from '../../contract/slots.ts';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import { encodeGguf } from '../../models/gguf/writer.ts';
import { ADMIN_KEY, type Gateway, type GatewayOptions, KEYS_FILE, startGateway, until } from './gateway.ts';
import { ask } from './http.ts';

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

/** Writes the model that `startTiny` serves and answers its path; its id is `tiny`. */
export function writeTinyModel(folder: string): string {
  const path = join(folder, 'tiny.gguf');
  writeFileSync(path, encodeGguf(tinyChat({ context: 65_536, template: TEMPLATE })));
  return path;
}

/** Starts a gateway whose slot `agent` serves a real, tiny model with a wide window, and waits until it is ready. */
export async function startTiny(options: GatewayOptions = {}, key?: string): Promise<Gateway> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'svc-test-'));
  const model = writeTinyModel(home);
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
      files: { ...KEYS_FILE, 'config/config.toml': '[security]\nrequire_auth = true\n', ...files },
    },
    ADMIN_KEY,
  );

/** The record of a slot as `GET /api/slots/{name}` shows it. */
export async function slot(gateway: Gateway, name: string, key?: string): Promise<SlotRecord> {
  return (await ask(gateway, 'GET', `/api/slots/${name}`, { key })).json<SlotRecord>();
}

/** Waits until a slot is in `state` and answers its record. */
export async function slotState(
  gateway: Gateway,
  name: string,
  state: SlotRecord['state'],
  key?: string,
  limitMs = 30_000,
): Promise<SlotRecord> {
  let seen = await slot(gateway, name, key);
  await until(
    async () => {
      seen = await slot(gateway, name, key);
      return seen.state === state;
    },
    `slot ${name} to be ${state}`,
    limitMs,
  );
  return seen;
}
