import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { RerankBody } from '../../contract/rerank.ts';
import { messagesBody } from './messages/request-schema.ts';
import { readBody } from './read-body.ts';
import { responsesBody } from './responses/request-schema.ts';

type Schema = Parameters<typeof readBody>[0];

function faultsOf(schema: Schema, body: unknown): { path: string }[] {
  try {
    readBody(schema, Buffer.from(JSON.stringify(body)));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.options.details?.fields as { path: string }[];
  }
  throw new Error('it was read');
}

test('reports every fault of a small body', () => {
  const faults = faultsOf(responsesBody, { model: 1, input: [1, 2], temperature: 'warm' });
  expect(faults.map(({ path }) => path)).toEqual(['model', 'input.0', 'input.1', 'temperature']);
});

const wrong = Array<number>(50_000).fill(1);
const base = { model: 'a', max_tokens: 5 };
const user = (content: unknown) => ({ ...base, messages: [{ role: 'user', content }] });

describe('stops at the first fault of a long list', () => {
  test.each<[path: string, Schema, body: unknown]>([
    ['messages.0', messagesBody, { ...base, messages: wrong }],
    ['messages.0.content.0', messagesBody, user(wrong)],
    [
      'messages.0.content.0.content.0',
      messagesBody,
      user([{ type: 'tool_result', tool_use_id: 'a', content: wrong }]),
    ],
    ['system.0', messagesBody, { ...user('hi'), system: wrong }],
    ['tools.0', messagesBody, { ...user('hi'), tools: wrong }],
    ['stop_sequences.0', messagesBody, { ...user('hi'), stop_sequences: wrong }],
    ['input.0', responsesBody, { input: wrong }],
    ['input.0.content.0', responsesBody, { input: [{ role: 'user', content: wrong }] }],
    ['input.0.summary.0', responsesBody, { input: [{ type: 'reasoning', summary: wrong }] }],
    ['input.0.tools.0', responsesBody, { input: [{ type: 'additional_tools', tools: wrong }] }],
    ['tools.0', responsesBody, { input: 'hi', tools: wrong }],
    ['include.0', responsesBody, { input: 'hi', include: wrong }],
    [
      'metadata',
      responsesBody,
      { input: 'hi', metadata: Object.fromEntries(wrong.map((one, at) => [`k${at}`, one])) },
    ],
    ['documents', RerankBody, { query: 'a', documents: wrong }],
  ])('%s', (path, schema, body) => {
    expect(faultsOf(schema, body).map((fault) => fault.path)).toEqual([path]);
  });
});
