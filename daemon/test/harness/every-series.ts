import { CLIENT_KEY } from './gateway.ts';
import { ask } from './http.ts';
import type { OneGateway } from './one-gateway.ts';
import { json, provider, type StandIn } from './stand-in.ts';
import { openStream } from './stream.ts';

export const CHAT = '/v1/chat/completions';
/** What the prompts say. */
export const SAID = 'swordfish-in-a-prompt';

export const body = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: SAID }],
  max_tokens: 8,
  ...more,
});

/** Requests that give every metric a series: on a gateway with keys, slot `agent` and `far` as an upstream with `far-model`. */
export async function everything(gateway: OneGateway, far: StandIn): Promise<void> {
  const say = (model: string) => ask(gateway, 'POST', CHAT, { key: CLIENT_KEY, body: body(model) });
  await say('agent');
  await (await openStream(gateway, CHAT, body('agent', { stream: true }), { key: CLIENT_KEY })).ended;
  await say('nobody-has-this');
  far.play(() => json(500, { error: { message: 'no' } }));
  await say('far-model');
  far.play(provider('far-model'));
  await say('far-model');
  await ask(gateway, 'POST', CHAT, { body: body('agent') });
}
