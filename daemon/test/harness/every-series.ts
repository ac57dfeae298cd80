import { CLIENT_KEY } from './gateway.ts';
import { send } from './http.ts';
import type { OneGateway } from './one-gateway.ts';
import { json, provider, type StandIn } from './stand-in.ts';
import { openStream } from './stream.ts';

export const CHAT = '/v1/chat/completions';
/** The text of every prompt. */
export const PROMPT_TEXT = 'swordfish-in-a-prompt';

export const body = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: PROMPT_TEXT }],
  max_tokens: 8,
  ...more,
});

/** Sends requests that give every metric a series. The gateway needs keys, slot `agent` and upstream `far` with `far-model`. */
export async function exerciseEveryMetric(gateway: OneGateway, far: StandIn): Promise<void> {
  const chat = (model: string) => send(gateway, 'POST', CHAT, { key: CLIENT_KEY, body: body(model) });
  await chat('agent');
  await (await openStream(gateway, CHAT, body('agent', { stream: true }), { key: CLIENT_KEY })).ended;
  await chat('unknown-model');
  far.respondWith(() => json(500, { error: { message: 'no' } }));
  await chat('far-model');
  far.respondWith(provider('far-model'));
  await chat('far-model');
  await send(gateway, 'POST', CHAT, { body: body('agent') });
}
