/**
 * The tools of the loop that ask other models, over a real port: real llama.cpp makes the vectors, the ranking and the second
 * opinion; the model that sees is a STAND-IN, because no tiny one does.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { tinyEmbed } from '../models/gguf/testing/tiny-embed.ts';
import { tinyRerank } from '../models/gguf/testing/tiny-rerank.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import type { GgufModel } from '../models/gguf/writer.ts';
import { begin, jsonPayload } from './harness/disconnecting-client.ts';
import { startGateway, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { slotsOf } from './harness/omni-slots.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, slotDo, slotIdle } from './harness/slots.ts';
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
  asker: caller('ask_model', { prompt: 'hi', model: 'second' }),
  looker: caller('describe_image', { file: 'image_1', question: 'What is it?' }),
  waiter: caller('ask_model', { prompt: 'hold', model: 'eyes' }),
  second: tinyChat({ context: 4096, reply: 'Another opinion.', runs: false }),
};

interface Told {
  choices: { message: { content: string } }[];
  _svc: {
    omni: { tools: { name: string; ok: boolean; content: string; attachment?: { vectors: number[][] } }[] };
  };
}

let eyes: StandIn;
const held: ServerResponse[] = [];

beforeAll(async () => {
  eyes = await standIn(({ url, body }) => {
    if (url === '/health') return json(200, {});
    if (body.includes('"hold"')) return (_req, res) => void held.push(res);
    const sees = body.includes(`data:image/png;base64,${PIXEL}`) && body.includes('What is it?');
    return json(200, {
      choices: [{ index: 0, message: { role: 'assistant', content: sees ? 'a dot' : 'nothing' } }],
    });
  });
});
afterAll(() => eyes?.down());

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
    expect((await slotDo(gateway, name, 'load')).status).toBe(200);
});

async function tools(model: string, content: unknown = 'go'): Promise<Told['_svc']['omni']['tools']> {
  const body = { model, omni: true, messages: [{ role: 'user', content }], max_tokens: 256, temperature: 0 };
  const answer = await ask(gateway, 'POST', CHAT, { body, silenceMs: 60_000 });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const told = answer.json<Told>();
  expect(told.choices[0]?.message.content).toBe(REPLY);
  return told._svc.omni.tools;
}
const said = (content = '') => JSON.parse(content) as Record<string, unknown>;

it('embed_text: the model learns how alike texts are, the caller gets the vectors', async () => {
  const [ran] = await tools('agent');
  expect(ran).toMatchObject({ name: 'embed_text', ok: true });
  const { dimensions, alike } = said(ran?.content) as { dimensions: number; alike: number[] };
  const [same = 0, near = 0, far = 0] = alike;
  expect([dimensions, same]).toEqual([32, 1]);
  expect(near).toBeGreaterThan(far);
  expect(ran?.attachment?.vectors.map(({ length }) => length)).toEqual([32, 32, 32]);
});

it('rerank_documents: best first', async () => {
  const [ran] = await tools('sorter');
  expect(ran).toMatchObject({ name: 'rerank_documents', ok: true });
  const { results } = said(ran?.content) as { results: { index: number }[] };
  expect(results.map(({ index }) => index).at(-1)).toBe(0);
});

it('ask_model: what another model says', async () => {
  const [ran] = await tools('asker');
  expect(ran).toMatchObject({ name: 'ask_model', ok: true });
  expect(said(ran?.content)).toEqual({ answer: 'Another opinion.' });
});

it('describe_image: the picture goes to a model that sees, a word in its place to the one that asks', async () => {
  const url = `data:image/png;base64,${PIXEL}`;
  const [ran] = await tools('looker', [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url } },
  ]);
  expect(ran).toMatchObject({ name: 'describe_image', ok: true });
  expect(said(ran?.content)).toEqual({ text: 'a dot' });
});

it('the list says who sees', async () => {
  const { data } = (await ask(gateway, 'GET', '/v1/models')).json<{ data: V1ModelRecord[] }>();
  const seeing = data.filter(({ architecture }) => architecture.input_modalities.includes('image'));
  expect(seeing.map(({ id }) => id).sort()).toEqual(['eyes', 'eyes-1', 'svc/eyes']);
  expect(seeing.every(({ capabilities }) => capabilities.vision === true)).toBe(true);
});

it('a caller who leaves during a tool ends the tool', async () => {
  const payload = jsonPayload({
    model: 'waiter',
    omni: true,
    messages: [{ role: 'user', content: 'go' }],
    max_tokens: 256,
    temperature: 0,
  });
  const leaver = begin(gateway, CHAT, payload);
  await until(() => held.length === 1, 'the tool to ask', 30_000);
  const closed = new Promise((resolve) => held[0]?.once('close', resolve));
  expect((await slot(gateway, 'eyes')).active).toBe(1);
  leaver.leave();
  await closed;
  await slotIdle(gateway, 'eyes');
  await slotIdle(gateway, 'waiter');
});
