/** Slot `agent` over a real port: which model it takes, what is only offered, and files whose engine fails. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentView } from '../contract/models.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { type Gateway, startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { replyText, send } from './harness/http.ts';
import { forTest } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const small = tinyChat({ name: 'small', reply: 'I am small.', runs: false });
const large = tinyChat({ name: 'large', reply: 'I am large.', runs: false, width: 1024 });
/** Larger than both, and without a tensor that its engine needs. */
const whole = tinyChat({ name: 'crashing', width: 2048 });
const crashing = { ...whole, tensors: whole.tensors.filter(({ name }) => !name.includes('attn_q')) };

function put(home: string, name: string, model: Parameters<typeof encodeGguf>[0]): void {
  mkdirSync(join(home, 'weights'), { recursive: true });
  writeFileSync(join(home, 'weights', `${name}.gguf`), encodeGguf(model));
}
const files = (home: string) => ({
  'config/config.toml': `[models]\nfolders = [${JSON.stringify(join(home, 'weights'))}]\n`,
  'weights/.keep': '',
});
const start = (home: string) => startGateway({ home, files: files(home) });
const chat = (gateway: Gateway, model = 'agent') =>
  send(gateway, 'POST', '/v1/chat/completions', {
    idleTimeoutMs: 60_000,
    body: { model, messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 16 },
  });
const agent = async (gateway: Gateway) => (await send(gateway, 'GET', '/api/agent')).json<AgentView>();
const scan = (gateway: Gateway) => send(gateway, 'POST', '/api/models/scan');
const unload = (gateway: Gateway) => send(gateway, 'POST', '/api/slots/agent/unload');
/** Starts a gateway whose agent is served by `small`. */
async function serving(): Promise<Gateway> {
  const home = newHome();
  put(home, 'small', small);
  const gateway = await forTest(start(home));
  await until(async () => replyText(await chat(gateway)) === 'I am small.', 'the small model');
  return gateway;
}

describe('the model that serves agent', () => {
  it('stays when a larger one appears, which is offered, and is taken when the owner says so', async () => {
    const gateway = await serving();
    put(gateway.home, 'large', large);
    await scan(gateway);
    await unload(gateway);
    expect(replyText(await chat(gateway))).toBe('I am small.');
    expect(await agent(gateway)).toMatchObject({
      ...{ model: 'small', chosen_by: 'gateway', offer: { model: 'large' } },
    });
    const env = envFor(gateway);
    expect((await svcctl(['status'], { env })).out).toContain(
      'large is larger than small. To use it as agent: svcctl models use large',
    );
    expect(await svcctl(['models', 'use', 'large'], { env })).toMatchObject({ code: 0, err: '' });
    await until(async () => replyText(await chat(gateway)) === 'I am large.', 'the large model');
    expect(await agent(gateway)).toMatchObject({ model: 'large', offer: null });
  });

  it('an offer that was declined is not made again, also after a restart', async () => {
    const gateway = await serving();
    put(gateway.home, 'large', large);
    await scan(gateway);
    expect((await agent(gateway)).offer?.model).toBe('large');
    await send(gateway, 'PUT', '/api/agent', { body: { model: 'small' } });
    expect((await agent(gateway)).offer).toBeNull();
    await gateway.stop();
    const again = await forTest(startGateway({ home: gateway.home }));
    await until(async () => (await agent(again)).model === 'small', 'the small model');
    expect((await agent(again)).offer).toBeNull();
    expect(replyText(await chat(again))).toBe('I am small.');
  });

  it('a file that crashes its engine changes nothing for callers', async () => {
    const gateway = await serving();
    put(gateway.home, 'crashing', crashing);
    await scan(gateway);
    await unload(gateway);
    expect(replyText(await chat(gateway))).toBe('I am small.');
    // Its own slot fails; then it is not even offered.
    expect((await chat(gateway, 'crashing')).status).toBe(503);
    expect((await agent(gateway)).offer).toBeNull();
    await gateway.stop();
    const again = await forTest(startGateway({ home: gateway.home }));
    await until(async () => replyText(await chat(again)) === 'I am small.', 'the small model');
  });

  it('a model that failed is not chosen while another can be, and a repaired file is', async () => {
    const home = newHome();
    const gateway = await forTest(start(home));
    put(home, 'crashing', crashing);
    put(home, 'small', small);
    await scan(gateway);
    // The larger one is chosen first and fails; the caller gets the answer of the other.
    await until(async () => replyText(await chat(gateway)) === 'I am small.', 'the small model');
    const slots = (await send(gateway, 'GET', '/api/slots')).json<{
      slots: { name: string; failure: unknown }[];
    }>();
    expect(slots.slots.find(({ name }) => name === 'agent')?.failure).toBeNull();
    put(home, 'crashing', { ...whole });
    await scan(gateway);
    expect((await agent(gateway)).offer?.model).toBe('crashing');
  });

  it('the demonstration model serves again when the only real model fails', async () => {
    const home = newHome();
    const gateway = await forTest(start(home));
    await waitForSlotState(gateway, 'agent', 'ready');
    put(home, 'crashing', crashing);
    await scan(gateway);
    await until(async () => {
      const response = await chat(gateway);
      return response.status === 200 && replyText(response).includes('demonstration model');
    }, 'the demonstration model');
  });

  it('a model that is no chat model is refused', async () => {
    const gateway = await serving();
    const refused = await send(gateway, 'PUT', '/api/agent', { body: { model: 'nothing' } });
    expect(refused).toMatchObject({ status: 404, code: 'model.not_found' });
  });
});
