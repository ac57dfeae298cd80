/** `POST /v1/responses` as used by LangChain, on which n8n's chat node is built. */
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { beforeAll, expect, it } from 'vitest';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { CALL, startDialects } from './harness/dialect-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';

let chat: ChatOpenAI;

const gateway = new OneGateway(startDialects);
beforeAll(async () => {
  chat = new ChatOpenAI({
    model: 'agent',
    apiKey: CLIENT_KEY,
    maxRetries: 0,
    useResponsesApi: true,
    configuration: { baseURL: `${gateway.url}/v1` },
  });
});

const tool = {
  type: 'function' as const,
  function: { name: CALL.name, parameters: { type: 'object', properties: { zone: { type: 'string' } } } },
};

it('invoke: text and counts', async () => {
  const response = await chat.invoke('Hello!');
  expect(response.text).toBe(TINY_REPLY);
  expect(response.usage_metadata?.output_tokens).toBeGreaterThan(0);
});

it('stream: the pieces add up', async () => {
  let merged = new AIMessageChunk('');
  let pieces = 0;
  for await (const chunk of await chat.stream('Hello!')) {
    merged = merged.concat(chunk);
    if (chunk.text !== '') pieces++;
  }
  expect(merged.text).toBe(TINY_REPLY);
  expect(pieces).toBeGreaterThan(1);
  expect(merged.usage_metadata?.total_tokens).toBeGreaterThan(0);
});

it('a call and the turn after it', async () => {
  const withTools = chat.bindTools([tool]);
  const question = new HumanMessage('What time is it?');
  const first = await withTools.invoke([question]);
  const call = first.tool_calls?.[0];
  expect([call?.name, call?.args]).toEqual([CALL.name, CALL.args]);
  const result = new ToolMessage({ content: 'noon', tool_call_id: call?.id ?? '' });
  expect((await withTools.invoke([question, first, result])).text).toBe(TINY_REPLY);
});
