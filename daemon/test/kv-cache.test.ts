/** Saved states of conversations (docs/spec/contract.md#kv-cache), with an engine whose answers depend on them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONVERSATION_HEADER } from '../contract/conversation-reasons.ts';
import { readConversationHeader } from '../contract/conversation-state.ts';
import type { KvCacheView } from '../contract/kv-cache.ts';
import type { ExplainView, RequestDetailView } from '../contract/system.ts';
import { attentiveModel } from '../slots/workers/testing/attentive-model.ts';
import { startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, waitForIdleSlot } from './harness/slots.ts';

const SLOT = 'model = "attentive"\ncontext = 4096\nautoload = false\n';
const start = (persist: string) =>
  startGateway({
    models: { attentive: attentiveModel(), other: attentiveModel({ seed: 2 }) },
    files: {
      'config/slots/agent.toml': SLOT,
      'config/config.toml': `[kv_cache]\npersist = "${persist}"\n`,
    },
  });

const QUESTION = 'A question that is long enough that reading it again would take a while. '.repeat(12);

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: { readonly prompt_tokens_details: { readonly cached_tokens: number } };
}

async function chat(gateway: OneGateway, texts: readonly string[]) {
  const messages = texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
  const body = { model: 'agent', messages, temperature: 0, max_tokens: 12 };
  const response = await send(gateway, 'POST', '/v1/chat/completions', { body, idleTimeoutMs: 60_000 });
  const { choices, usage } = response.json<Answer>();
  await waitForIdleSlot(gateway, 'agent');
  const { story } = await storyOf(gateway, response.headers['x-request-id'] as string);
  expect(readConversationHeader(response.headers[CONVERSATION_HEADER])).toEqual(story?.conversation);
  return {
    text: choices[0]?.message.content ?? '',
    cached: usage.prompt_tokens_details.cached_tokens,
    conversation: story?.conversation,
  };
}

async function storyOf(gateway: OneGateway, id: string): Promise<RequestDetailView> {
  return (await send(gateway, 'GET', `/api/requests/${id}`)).json<RequestDetailView>();
}

const explained = async (gateway: OneGateway) => {
  const body = { path: '/v1/chat/completions', model: 'agent' };
  return (await send(gateway, 'POST', '/api/dispatch/explain', { body })).json<ExplainView>().conversations;
};

const view = async (gateway: OneGateway): Promise<KvCacheView> =>
  (await send(gateway, 'GET', '/api/kv-cache')).json<KvCacheView>();

describe('conversations saved in memory', () => {
  const gateway = new OneGateway(() => start('memory'));

  it('continue after an unload and after a swap to another model and back', async () => {
    const first = await chat(gateway, [QUESTION]);
    await runSlotAction(gateway, 'agent', 'unload');
    expect(await view(gateway)).toMatchObject({
      persist: 'memory',
      problem: null,
      states: 1,
      hits: 0,
      models: [{ model: 'attentive', states: 1 }],
    });
    expect(await explained(gateway)).toEqual({ from: 'memory', reason: null, saved: 1 });
    const second = await chat(gateway, [QUESTION, first.text, 'and then?']);
    expect(second.cached).toBeGreaterThan(800);
    expect(first.conversation).toMatchObject({ outcome: 'computed', reason: 'no_saved_prefix' });
    expect(second.conversation).toMatchObject({ outcome: 'restored', tokens: second.cached, from: 'memory' });

    for (const model_id of ['other', 'attentive'])
      await send(gateway, 'POST', '/api/slots/agent/swap', { body: { model_id }, idleTimeoutMs: 60_000 });
    const third = await chat(gateway, [QUESTION, first.text, 'and then?', second.text, 'why?']);
    expect(third.cached).toBeGreaterThan(second.cached);
    const { hits, restored_tokens: tokens } = await view(gateway);
    expect(hits).toBe(2);
    expect(tokens).toBeGreaterThan(1600);
  });

  it('are deleted on request, with an audit row that has no content', async () => {
    await runSlotAction(gateway, 'agent', 'unload');
    const cleared = await send(gateway, 'DELETE', '/api/kv-cache');
    expect(cleared.json()).toMatchObject({ deleted: expect.any(Number) });
    expect(await view(gateway)).toMatchObject({ states: 0, bytes: 0, models: [] });
    const { entries } = (await send(gateway, 'GET', '/api/audit')).json<{ entries: { action: string }[] }>();
    expect(entries.some(({ action }) => action === 'kv_cache.clear')).toBe(true);
    expect((await chat(gateway, [QUESTION, 'x', 'y'])).cached).toBe(0);
  });

  it('are gone when the setting is off, at once', async () => {
    await runSlotAction(gateway, 'agent', 'unload');
    expect((await view(gateway)).states).toBeGreaterThan(0);
    await chat(gateway, [QUESTION, 'x', 'y']);
    await send(gateway, 'PUT', '/api/settings', { body: { values: { kvCachePersist: 'off' } } });
    await runSlotAction(gateway, 'agent', 'unload');
    expect(await view(gateway)).toMatchObject({ persist: 'off', states: 0, max_bytes: 0 });
    expect(await explained(gateway)).toEqual({ from: null, reason: 'kv_cache.persist is off.', saved: 0 });
    const computed = await chat(gateway, [QUESTION, 'x', 'y']);
    expect(computed.conversation).toMatchObject({ outcome: 'computed', tokens: 0, reason: 'not_configured' });
  });
});

describe('conversations saved on disk', () => {
  const gateway = new OneGateway(() => start('disk'));

  it('continue after a restart of the gateway', async () => {
    const { home } = gateway;
    const first = await chat(gateway, [QUESTION]);
    await gateway.stop();
    expect(existsSync(join(home, 'state', 'kv', 'model-attentive'))).toBe(true);
    await gateway.replace(() => startGateway({ home }));
    const second = await chat(gateway, [QUESTION, first.text, 'and then?']);
    expect(second.cached).toBeGreaterThan(800);
    expect(second.conversation).toMatchObject({ outcome: 'restored', from: 'disk' });
  });
});
