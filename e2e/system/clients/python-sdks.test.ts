/** The released SDKs of OpenAI and Anthropic for Python: tool loops, streams, a PDF, errors, a wrong key. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startForClients, VECTOR_SIZE } from '../../../daemon/test/harness/client-gateway.ts';
import { CLIENT_KEY } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { runProgram } from '../harness/program.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { pythonClients } from './python-environment.ts';

const REPLY = 'Hello from the tiny model.';
const SCRIPT = join(import.meta.dirname, 'sdk_calls.py');
/** Time until a person sees that the key is wrong. */
const WRONG_KEY_LIMIT_S = 2;

const python = await availableOrSkip('SDKs for Python', pythonClients);

describe.skipIf(python === null)('SDKs for Python', () => {
  const gateway = new OneGateway(() => startForClients());
  const results = async (sdk: string): Promise<Record<string, unknown>> => {
    const output = await runProgram(python ?? '', [SCRIPT, sdk, gateway.url, CLIENT_KEY], {
      limitMs: 100_000,
    });
    return JSON.parse(output) as Record<string, unknown>;
  };

  it('openai: chats, streams, responses, vectors, lists and errors', async () => {
    const found = await results('openai');
    expect(found).toMatchObject({
      tool: 'get_time',
      arguments: expect.any(Object),
      after_tool: REPLY,
      streamed: REPLY,
      response: REPLY,
      response_streamed: REPLY,
      completion: expect.any(String),
      dimensions: VECTOR_SIZE,
      models: expect.arrayContaining(['agent', 'vectors']),
      retrieved: 'agent',
      missing: { error: 'NotFoundError' },
      wrong_key: { error: 'AuthenticationError', text: expect.stringContaining('This key is not valid') },
    });
    expect((found.wrong_key as { seconds: number }).seconds).toBeLessThan(WRONG_KEY_LIMIT_S);
  });

  it('anthropic: messages, streams, a PDF in a tool result, counts, lists and errors', async () => {
    const found = await results('anthropic');
    expect(found).toMatchObject({
      tool: 'get_time',
      stop_reason: 'tool_use',
      after_tool: REPLY,
      streamed: REPLY,
      after_pdf: 'text',
      tokens: expect.any(Number),
      models: expect.arrayContaining(['agent']),
      missing: { error: 'NotFoundError' },
      wrong_key: { error: 'AuthenticationError', text: expect.stringContaining('This key is not valid') },
    });
    expect((found.wrong_key as { seconds: number }).seconds).toBeLessThan(WRONG_KEY_LIMIT_S);
  });
});
