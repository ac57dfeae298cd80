/** LangChain (`@langchain/openai`) against the running daemon and real llama.cpp. */
import { AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { startForClients, VECTOR_SIZE } from './harness/client-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';

const gateway = new OneGateway(startForClients);

const clientConfig = () => ({ baseURL: `${gateway.url}/v1` });
const chat = (model = 'agent', apiKey = CLIENT_KEY) =>
  new ChatOpenAI({
    model,
    apiKey,
    temperature: 0,
    maxTokens: 100,
    maxRetries: 0,
    configuration: clientConfig(),
  });

const getTime = tool(async ({ zone }) => `12:00 in ${zone}`, {
  name: 'get_time',
  description: 'Time',
  schema: z.object({ zone: z.string() }),
});
const shape = z.object({ a: z.string(), n: z.int() });

describe('chat', () => {
  it('invoke returns a message with usage and finish reason', async () => {
    const message = await chat().invoke([new SystemMessage('Be brief.'), new HumanMessage('Hi!')]);
    expect(message.content).toBe(TINY_REPLY);
    expect(message.usage_metadata).toMatchObject({ output_tokens: 6 });
    expect(message.response_metadata).toMatchObject({ finish_reason: 'stop', model_name: 'chat' });
  });

  it('stream yields the text in parts, with usage', async () => {
    let merged: AIMessageChunk | null = null;
    let parts = 0;
    for await (const chunk of await chat().stream('Hi!')) {
      merged = merged === null ? chunk : merged.concat(chunk);
      parts += chunk.content === '' ? 0 : 1;
    }
    expect(parts).toBeGreaterThan(2);
    expect(merged?.content).toBe(TINY_REPLY);
    expect(merged?.usage_metadata).toMatchObject({ output_tokens: 6 });
  });

  it('a chain of prompt, model and parser; batch runs each', async () => {
    const chain = ChatPromptTemplate.fromTemplate('Say {what}').pipe(chat()).pipe(new StringOutputParser());
    expect(await chain.batch([{ what: 'a.' }, { what: 'b.' }])).toEqual([TINY_REPLY, TINY_REPLY]);
  });

  it('the completion model', async () => {
    const model = new OpenAI({
      model: 'agent',
      apiKey: CLIENT_KEY,
      temperature: 0,
      maxTokens: 4,
      maxRetries: 0,
      configuration: clientConfig(),
    });
    expect(await model.invoke('abc')).toBe('defg');
  });
});

describe('tools', () => {
  it('bindTools: a call, its result in a second turn, and the reply', async () => {
    const bound = chat().bindTools([getTime]);
    const question = new HumanMessage('What time is it?');
    const call = await bound.invoke([question]);
    expect(call.tool_calls).toMatchObject([
      { name: 'get_time', args: { zone: 'UTC' }, id: expect.any(String) },
    ]);
    expect(call.invalid_tool_calls ?? []).toEqual([]);
    const result = await getTime.invoke(call.tool_calls?.[0] as never);
    expect(result).toBeInstanceOf(ToolMessage);
    expect((await bound.invoke([question, call, result as ToolMessage])).content).toBe(TINY_REPLY);
  });

  it('streamed calls are merged; two at once stay separate', async () => {
    for (const [model, zones] of [
      ['agent', ['UTC']],
      ['pair', ['UTC', 'CET']],
    ] as const) {
      let merged = new AIMessageChunk('');
      for await (const chunk of await chat(model).bindTools([getTime]).stream('What time is it?'))
        merged = merged.concat(chunk);
      expect(merged.tool_calls?.map(({ args }) => args.zone)).toEqual(zones);
    }
  });
});

describe('structured output', () => {
  it.each(['jsonSchema', 'functionCalling'] as const)('%s', async (method) => {
    const schema = method === 'jsonSchema' ? shape : z.object({ zone: z.string() });
    const response = await chat(method === 'jsonSchema' ? 'agent' : 'pair')
      .withStructuredOutput(schema, { method, name: 'get_time' })
      .invoke('Fill it.');
    expect(schema.parse(response)).toEqual(response);
  });
});

describe('vectors', () => {
  const embeddings = (encodingFormat?: 'float' | 'base64') =>
    new OpenAIEmbeddings({
      model: 'vectors',
      apiKey: CLIENT_KEY,
      maxRetries: 0,
      encodingFormat,
      configuration: clientConfig(),
    });

  it('documents and queries, in either encoding', async () => {
    const [first, second] = await embeddings().embedDocuments(['the cat sat', 'on the mat']);
    expect([first?.length, second?.length]).toEqual([VECTOR_SIZE, VECTOR_SIZE]);
    expect(Math.hypot(...(first ?? []))).toBeCloseTo(1, 4);
    const query = await embeddings('float').embedQuery('the cat sat');
    expect(query.map(Math.fround)).toEqual(first?.map(Math.fround));
  });
});

describe('errors', () => {
  it.each([
    ['a wrong key', 'agent', 'wrong-key-123', 401],
    ['an unknown model', 'no-such-model', CLIENT_KEY, 404],
  ])('%s keeps its status', async (_, model, key, status) => {
    await expect(chat(model, key).invoke('Hi!')).rejects.toMatchObject({ status });
  });

  it('a prompt too long for the window has its own error', async () => {
    await expect(chat().invoke('x'.repeat(3_000))).rejects.toThrow(/context size/);
  });
});
