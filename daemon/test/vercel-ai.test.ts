/** The AI SDK (`ai` with `@ai-sdk/openai-compatible`) against the running daemon and real llama.cpp. */
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  embed,
  embedMany,
  generateObject,
  generateText,
  Output,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { startForClients, VECTOR_SIZE } from './harness/client-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';

let svc: OpenAICompatibleProvider;

const gateway = new OneGateway(startForClients);
beforeAll(async () => {
  svc = provider(CLIENT_KEY);
});

const provider = (apiKey: string) =>
  createOpenAICompatible({
    name: 'svc',
    baseURL: `${gateway.url}/v1`,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

const greedy = { temperature: 0, maxOutputTokens: 100, maxRetries: 0 };
const shape = z.object({ a: z.string(), n: z.int() });

/** A tool that records its calls. */
function clock() {
  const calls: unknown[] = [];
  const getTime = tool({
    description: 'Time',
    inputSchema: z.object({ zone: z.string() }),
    execute: async (input) => {
      calls.push(input);
      return { time: '12:00' };
    },
  });
  return { calls, tools: { get_time: getTime } };
}

describe('texts', () => {
  it('generateText with usage, finish reason and response headers', async () => {
    const response = await generateText({ model: svc('agent'), prompt: 'Hi!', ...greedy });
    expect(response.text).toBe(TINY_REPLY);
    expect(response.finishReason).toBe('stop');
    expect(response.usage.inputTokens).toBeGreaterThan(10);
    expect(response.usage.outputTokens).toBe(6);
    expect(response.response.modelId).toBe('chat');
    expect(response.response.headers?.['x-svc-slot']).toBe('agent');
    expect(response.warnings ?? []).toEqual([]);
  });

  it('streamText in parts, with usage at the end', async () => {
    const response = streamText({ model: svc('agent'), prompt: 'Hi!', ...greedy });
    const parts: string[] = [];
    for await (const part of response.textStream) parts.push(part);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.join('')).toBe(TINY_REPLY);
    expect(await response.finishReason).toBe('stop');
    expect((await response.usage).outputTokens).toBe(6);
  });

  it('a truncated text has finish reason length, a stop string has stop', async () => {
    const cut = await generateText({ model: svc('agent'), prompt: 'Hi!', ...greedy, maxOutputTokens: 2 });
    expect([cut.text, cut.finishReason]).toEqual(['Hello from', 'length']);
    const stopped = await generateText({
      model: svc('agent'),
      prompt: 'Hi!',
      ...greedy,
      stopSequences: [' tiny'],
    });
    expect([stopped.text, stopped.finishReason]).toEqual(['Hello from the', 'stop']);
  });

  it('a completion model', async () => {
    const response = await generateText({
      model: svc.completionModel('agent'),
      prompt: 'Hi!',
      ...greedy,
      maxOutputTokens: 4,
    });
    expect(response.text.length).toBeGreaterThan(0);
  });
});

describe('tools', () => {
  it('generateText calls the tool and continues to the reply', async () => {
    const { calls, tools } = clock();
    const response = await generateText({
      model: svc('agent'),
      prompt: 'What time is it?',
      tools,
      stopWhen: stepCountIs(3),
      ...greedy,
    });
    expect(calls).toEqual([{ zone: 'UTC' }]);
    expect(response.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(response.text).toBe(TINY_REPLY);
  });

  it('streamText does the same', async () => {
    const { calls, tools } = clock();
    const response = streamText({
      model: svc('agent'),
      prompt: 'What time is it?',
      tools,
      stopWhen: stepCountIs(3),
      ...greedy,
    });
    let text = '';
    for await (const part of response.textStream) text += part;
    expect(calls).toEqual([{ zone: 'UTC' }]);
    expect(text).toBe(TINY_REPLY);
  });

  it('two calls at once', async () => {
    const { calls, tools } = clock();
    await generateText({ model: svc('pair'), prompt: 'What time is it?', tools, ...greedy });
    expect(calls).toEqual([{ zone: 'UTC' }, { zone: 'CET' }]);
  });

  it('a forced tool', async () => {
    const { tools } = clock();
    const { toolCalls } = await generateText({
      model: svc('pair'),
      prompt: 'What time is it?',
      tools,
      toolChoice: { type: 'tool', toolName: 'get_time' },
      ...greedy,
    });
    expect(toolCalls[0]).toMatchObject({ toolName: 'get_time' });
  });
});

describe('objects', () => {
  it('generateObject follows the schema', async () => {
    const { object } = await generateObject({
      model: svc('agent'),
      schema: shape,
      prompt: 'Fill it.',
      ...greedy,
    });
    expect(shape.parse(object).a).toBe('ok');
  });

  it('generateText with an output setting does the same', async () => {
    const output = Output.object({ schema: shape });
    const response = await generateText({ model: svc('agent'), output, prompt: 'Fill it.', ...greedy });
    expect(shape.parse(response.output).a).toBe('ok');
  });

  it('streamObject ends with the same object', async () => {
    const response = streamObject({ model: svc('agent'), schema: shape, prompt: 'Fill it.', ...greedy });
    let last: unknown;
    for await (const partial of response.partialObjectStream) last = partial;
    expect(last).toEqual(await response.object);
    expect(shape.parse(last).a).toBe('ok');
  });
});

describe('vectors', () => {
  it('embed and embedMany', async () => {
    const model = svc.embeddingModel('vectors');
    const { embedding, usage } = await embed({ model, value: 'the cat sat' });
    expect(embedding).toHaveLength(VECTOR_SIZE);
    expect(usage.tokens).toBeGreaterThan(2);
    const { embeddings } = await embedMany({ model, values: ['the cat sat', 'on the mat'] });
    expect(embeddings.map(({ length }) => length)).toEqual([VECTOR_SIZE, VECTOR_SIZE]);
    expect(embeddings[0]).toEqual(embedding);
  });
});

describe('errors', () => {
  const failed = async (promise: PromiseLike<unknown>): Promise<unknown> =>
    promise.then(
      () => new Error('it was answered'),
      (thrown: unknown) => thrown,
    );

  it.each([
    ['a wrong key', 'wrong-key-123', 'agent', 401],
    ['an unknown model', CLIENT_KEY, 'no-such-model', 404],
    ['a model of another kind', CLIENT_KEY, 'vectors', 409],
  ])('%s keeps its status and our message', async (_, key, model, status) => {
    const error = await failed(generateText({ model: provider(key)(model), prompt: 'Hi!', ...greedy }));
    expect(error).toBeInstanceOf(APICallError);
    expect(error).toMatchObject({ statusCode: status, data: { error: { message: expect.any(String) } } });
    expect((error as APICallError).message).toBe((error as { data: { error: Error } }).data.error.message);
    // The SDK treats every 409 as a temporary conflict.
    expect((error as APICallError).isRetryable).toBe(status === 409);
  });

  it('a prompt too long for the window is 400, also for a stream', async () => {
    const errors: unknown[] = [];
    const prompt = 'x'.repeat(3_000);
    const response = streamText({
      model: svc('agent'),
      prompt,
      ...greedy,
      onError: ({ error }) => void errors.push(error),
    });
    await response.consumeStream();
    expect(errors).toMatchObject([{ statusCode: 400, message: expect.stringContaining('context size') }]);
  });
});
