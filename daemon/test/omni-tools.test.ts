/**
 * The tools of the loop that call other models, over a real port: real llama.cpp computes the vectors, the ranking and the second
 * opinion; the vision model is a STAND-IN, because no tiny one exists.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../models/testing/gguf/tiny-rerank.ts';
import type { GgufModel } from '../models/testing/gguf/writer.ts';
import { jsonPayload, startRequest } from './harness/disconnecting-client.ts';
import { startGateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { slotsOf } from './harness/omni-slots.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, slot, waitForIdleSlot } from './harness/slots.ts';
import { json, type StandIn, standIn } from './harness/stand-in.ts';

const CHAT = '/v1/chat/completions';
const CAT = 'the cat sat on the mat';
const TEXTS = [CAT, 'a cat is on a mat', 'quantum flux xylophone'];
const REPLY = 'It is done now.';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const caller = (name: string, args: object): GgufModel =>
  tinyChat({ context: 4096, reply: REPLY, runs: false, tool: { name, args: { ...args } } });
const CHATS = {
  agent: caller('embed_text', { texts: TEXTS }),
  sorter: caller('rerank_documents', { query: 'cat on mat', documents: [...TEXTS].reverse() }),
  consultant: caller('ask_model', { prompt: 'hi', model: 'second' }),
  looker: caller('describe_image', { file: 'image_1', question: 'What is it?' }),
  waiter: caller('ask_model', { prompt: 'hold', model: 'eyes' }),
  second: tinyChat({ context: 4096, reply: 'Another opinion.', runs: false }),
};

interface OmniResponse {
  choices: { message: { content: string } }[];
  _svc: {
    omni: { tools: { name: string; ok: boolean; content: string; attachment?: { vectors: number[][] } }[] };
  };
}

let eyes: StandIn;
const pending: ServerResponse[] = [];

beforeAll(async () => {
  eyes = await standIn(({ url, body }) => {
    if (url === '/health') return json(200, {});
    if (body.includes('"hold"')) return (_req, res) => void pending.push(res);
    const sees = body.includes(`data:image/png;base64,${PIXEL}`) && body.includes('What is it?');
    return json(200, {
      choices: [{ index: 0, message: { role: 'assistant', content: sees ? 'a dot' : 'nothing' } }],
    });
  });
});
afterAll(() => eyes?.stop());

const gateway = new OneGateway(() => {
  const { models, files } = slotsOf(4096, CHATS, { embed: tinyEmbed({ size: 32 }), rerank: tinyRerank() });
  const attached = `engine = "custom"\nrunner = "attach"\nurl = "${eyes.url}"\nmodel = "eyes-1"\nvision = true\n`;
  return startGateway({
    models,
    files: { ...files, 'config/slots/eyes.toml': `${attached}autoload = false\n` },
  });
});
beforeAll(async () => {
  for (const name of ['embed', 'rerank', 'second', 'eyes'])
    expect((await runSlotAction(gateway, name, 'load')).status).toBe(200);
});

async function tools(model: string, content: unknown = 'go'): Promise<OmniResponse['_svc']['omni']['tools']> {
  const body = { model, omni: true, messages: [{ role: 'user', content }], max_tokens: 256, temperature: 0 };
  const response = await send(gateway, 'POST', CHAT, { body, idleTimeoutMs: 60_000 });
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  const omniResponse = response.json<OmniResponse>();
  expect(omniResponse.choices[0]?.message.content).toBe(REPLY);
  return omniResponse._svc.omni.tools;
}
const parseContent = (content = '') => JSON.parse(content) as Record<string, unknown>;

it('embed_text: the model gets the similarities, the caller the vectors', async () => {
  const [result] = await tools('agent');
  expect(result).toMatchObject({ name: 'embed_text', ok: true });
  const { dimensions, alike } = parseContent(result?.content) as { dimensions: number; alike: number[] };
  const [same = 0, near = 0, far = 0] = alike;
  expect([dimensions, same]).toEqual([32, 1]);
  expect(near).toBeGreaterThan(far);
  expect(result?.attachment?.vectors.map(({ length }) => length)).toEqual([32, 32, 32]);
});

it('rerank_documents: best first', async () => {
  const [result] = await tools('sorter');
  expect(result).toMatchObject({ name: 'rerank_documents', ok: true });
  const { results } = parseContent(result?.content) as { results: { index: number }[] };
  expect(results.map(({ index }) => index).at(-1)).toBe(0);
});

it('ask_model: the reply of another model', async () => {
  const [result] = await tools('consultant');
  expect(result).toMatchObject({ name: 'ask_model', ok: true });
  expect(parseContent(result?.content)).toEqual({ answer: 'Another opinion.' });
});

it('describe_image: the image goes to a vision model, and its description to the calling model', async () => {
  const url = `data:image/png;base64,${PIXEL}`;
  const [result] = await tools('looker', [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url } },
  ]);
  expect(result).toMatchObject({ name: 'describe_image', ok: true });
  expect(parseContent(result?.content)).toEqual({ text: 'a dot' });
});

it('the list marks vision models', async () => {
  const { data } = (await send(gateway, 'GET', '/v1/models')).json<{ data: V1ModelRecord[] }>();
  const seeing = data.filter(({ architecture }) => architecture.input_modalities.includes('image'));
  expect(seeing.map(({ id }) => id).sort()).toEqual(['eyes', 'eyes-1', 'svc/eyes']);
  expect(seeing.every(({ capabilities }) => capabilities.vision === true)).toBe(true);
});

it('a disconnect during a tool ends the tool', async () => {
  const payload = jsonPayload({
    model: 'waiter',
    omni: true,
    messages: [{ role: 'user', content: 'go' }],
    max_tokens: 256,
    temperature: 0,
  });
  const request = startRequest(gateway, CHAT, payload);
  await until(() => pending.length === 1, 'the tool call', 30_000);
  const closed = new Promise((resolve) => pending[0]?.once('close', resolve));
  expect((await slot(gateway, 'eyes')).active).toBe(1);
  request.disconnect();
  await closed;
  await waitForIdleSlot(gateway, 'eyes');
  await waitForIdleSlot(gateway, 'waiter');
});
