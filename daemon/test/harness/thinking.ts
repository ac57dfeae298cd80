import { expect } from 'vitest';
import { ask } from './http.ts';
import type { OneGateway } from './one-gateway.ts';

/** What slot `model`, with the model of tiny-gateway.ts, answers to a request with the fields `said`. */
async function says(gateway: OneGateway, model: string, said: object): Promise<string | undefined> {
  const messages = [{ role: 'user', content: 'x' }];
  const body = { model, messages, max_tokens: 2, temperature: 0, ...said };
  const answer = await ask(gateway, 'POST', '/v1/chat/completions', { body, silenceMs: 60_000 });
  expect(answer.status).toBe(200);
  return answer.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content;
}

/** Sets the default of the model in the registry. */
async function modelDefault(gateway: OneGateway, value: boolean | null): Promise<void> {
  const answer = await ask(gateway, 'PUT', '/api/models/tiny', { body: { enable_thinking: value } });
  expect(answer.status).toBe(200);
}

/** Expects that the engine of a slot reads the thinking switch: from the model's default and from both fields of a request. */
export async function readsThinking(gateway: OneGateway, model: string): Promise<void> {
  for (const [value, expected, other] of [
    [true, '67', '23'],
    [false, '23', '67'],
  ] as const) {
    await modelDefault(gateway, value);
    expect(await says(gateway, model, {})).toBe(expected);
    expect(await says(gateway, model, { enable_thinking: !value })).toBe(other);
    const inner = { chat_template_kwargs: { enable_thinking: !value } };
    expect(await says(gateway, model, inner)).toBe(other);
  }
  await modelDefault(gateway, null);
}
