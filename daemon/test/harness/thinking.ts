import { expect } from 'vitest';
import { send } from './http.ts';
import type { OneGateway } from './one-gateway.ts';

/** Returns the reply of slot `model` (the model of tiny-gateway.ts) to a request with `fields`. */
async function replyTo(gateway: OneGateway, model: string, fields: object): Promise<string | undefined> {
  const messages = [{ role: 'user', content: 'x' }];
  const body = { model, messages, max_tokens: 2, temperature: 0, ...fields };
  const response = await send(gateway, 'POST', '/v1/chat/completions', { body, idleTimeoutMs: 60_000 });
  expect(response.status).toBe(200);
  return response.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content;
}

/** Sets the thinking default of the model in the registry. */
async function setModelDefault(gateway: OneGateway, value: boolean | null): Promise<void> {
  const response = await send(gateway, 'PUT', '/api/models/tiny', { body: { enable_thinking: value } });
  expect(response.status).toBe(200);
}

/** Expects that the engine of a slot applies the thinking switch of the model's default and of both request fields. */
export async function expectThinkingSwitch(gateway: OneGateway, model: string): Promise<void> {
  for (const [value, expected, other] of [
    [true, '67', '23'],
    [false, '23', '67'],
  ] as const) {
    await setModelDefault(gateway, value);
    expect(await replyTo(gateway, model, {})).toBe(expected);
    expect(await replyTo(gateway, model, { enable_thinking: !value })).toBe(other);
    const inner = { chat_template_kwargs: { enable_thinking: !value } };
    expect(await replyTo(gateway, model, inner)).toBe(other);
  }
  await setModelDefault(gateway, null);
}
