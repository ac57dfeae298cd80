import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { post } from '../testing/client.ts';
import { hi, JSON_TYPE, MESSAGES, RESPONSES } from '../testing/dialects.ts';
import { closeAfterEach, setUp } from '../testing/forwarding.ts';

closeAfterEach();

/** Returns the caller's error when the engine refuses its chat at `param`. */
async function refusedAt(path: string, body: object, param: string, textPart = 'is wrong') {
  const message = `${param}: ${textPart}`;
  const { gateway } = await setUp((req, res) => {
    req.resume();
    res.writeHead(400, JSON_TYPE);
    res.end(JSON.stringify({ error: { code: 'request.invalid', message, param } }));
  });
  const answer = await post(gateway.origin, path, { model: 'agent', ...body });
  expect(answer.status).toBe(400);
  return (JSON.parse(answer.body) as { error: { param: string; message: string } }).error;
}

const imagePart = { type: 'input_image', image_url: 'data:image/png;base64,x' };
const textPart = { type: 'input_text', text: 'x' };
const input = [
  { type: 'reasoning', content: [{ text: 'hm' }] },
  { role: 'assistant', content: 'one' },
  { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c', output: [textPart, imagePart] },
  { role: 'user', content: [textPart, imagePart] },
];
const parameters = { type: 'object', properties: { a: { type: 'string' } } };
const tools = [
  { type: 'web_search' },
  { type: 'function', name: 'f', parameters },
  { type: 'custom', name: 'c' },
  { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] },
  { type: 'apply_patch' },
];

test.each([
  ['messages', 'input'],
  ['messages.0', 'instructions'],
  ['messages.1.content', 'input.0'],
  ['messages.1.tool_calls.0.function.arguments', 'input.2'],
  ['messages.3.content.0.image_url.url', 'input.3.output.1'],
  ['messages.4.content.1', 'input.4.content.1'],
  ['messages[4].content[1]', 'input[4].content[1]'],
  ['messages.9', 'input'],
  ['tools.0', 'tools.1'],
  ['tools.0.function', 'tools.1'],
  ['tools.0.function.name', 'tools.1.name'],
  ['tools.0.function.parameters', 'tools.1.parameters'],
  ['tools.0.function.parameters.properties.a.type', 'tools.1.parameters.properties.a.type'],
  ['tools.1.function.name', 'tools.2.name'],
  ['tools.1.function.parameters.properties.input', 'tools.2'],
  ['tools.2.function.name', 'tools.3.tools.0.name'],
  ['tools.3.function.name', 'tools.4'],
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['response_format.json_schema.schema.type', 'text.format.schema'],
  ['temperature', 'temperature'],
  ['__proto__.constructor', '__proto__.constructor'],
])('%s of the chat is %s of a response', async (param, expectedPath) => {
  const error = await refusedAt(RESPONSES, { instructions: 'be', input, tools }, param);
  expect(error).toMatchObject({ param: expectedPath, message: `${expectedPath}: is wrong` });
});

test('a string input has no inner paths', async () => {
  expect((await refusedAt(RESPONSES, { input: 'hi' }, 'messages.0.content')).param).toBe('input');
});

const image = { type: 'image', source: { type: 'url', url: 'http://x/' } };
const text = { type: 'text', text: 'x' };
const messages = [
  { role: 'user', content: 'x' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
  {
    role: 'user',
    content: [text, { type: 'tool_result', tool_use_id: 'a', content: [text, image] }, image],
  },
];

test.each([
  ['messages', 'messages'],
  ['messages.0', 'system'],
  ['messages.1.content', 'messages.0'],
  ['messages.2.tool_calls.0.function', 'messages.1'],
  ['messages.3.content', 'messages.2.content.1'],
  ['messages.4.content.0', 'messages.2.content.1.content.1'],
  ['messages.4.content.1', 'messages.2.content.0'],
  ['messages.4.content.2.image_url', 'messages.2.content.2'],
  ['stop', 'stop_sequences'],
  ['max_tokens', 'max_tokens'],
  ['max_completion_tokens', 'max_tokens'],
  ['tools.0.function.name', 'tools.1.name'],
  ['tools.0.function.parameters.properties.a.type', 'tools.1.input_schema.properties.a.type'],
  ['tools.1.function.name', 'tools.2.name'],
  ['tools.1.function.parameters.properties.command', 'tools.2'],
])('%s of the chat is %s of a message', async (param, expectedPath) => {
  const tools = [
    { type: 'web_search_20250305', name: 'web_search' },
    { name: 'f', input_schema: parameters },
    { type: 'bash_20250124', name: 'bash' },
  ];
  const error = await refusedAt(MESSAGES, { max_tokens: 9, system: 'be', messages, tools }, param);
  expect(error).toMatchObject({ param: expectedPath, message: `${expectedPath}: is wrong` });
});

describe("the chat's name for an image", () => {
  const refusal = 'reads text only, not parts of type "image_url"';
  test.each([
    [RESPONSES, { input: [{ role: 'user', content: [imagePart] }] }, 'input.0.content.0', '"input_image"'],
    [
      MESSAGES,
      { max_tokens: 9, messages: [{ role: 'user', content: [image] }] },
      'messages.0.content.0',
      '"image"',
    ],
  ])('%s: has the name that the caller gave it', async (path, body, expectedPath, type) => {
    const error = await refusedAt(path, body, 'messages.0.content.0', refusal);
    expect(error.message).toBe(`${expectedPath}: reads text only, not parts of type ${type}`);
  });
});

test("errors of the gateway name the caller's fields and keep status, headers and details", async () => {
  const { gateway, slots } = await setUp(() => {});
  const details = {
    fields: [
      { path: 'messages.0', reason: 'x' },
      { path: 'model', reason: 'y' },
    ],
    more: 1,
  };
  slots.before = () => {
    throw new GatewayError('context_length_exceeded', {
      param: 'messages',
      details,
      retryAfterS: 3,
      status: 413,
    });
  };
  const answer = await post(gateway.origin, RESPONSES, { model: 'agent', input: hi });
  expect(answer.status).toBe(413);
  expect(answer.headers['retry-after']).toBe('3');
  expect(JSON.parse(answer.body).error).toMatchObject({
    param: 'input',
    details: {
      fields: [
        { path: 'input.0', reason: 'x' },
        { path: 'model', reason: 'y' },
      ],
      more: 1,
    },
  });
});

test('an empty input is refused as input, and no engine is called', async () => {
  const { gateway, slots } = await setUp(() => {});
  const answer = await post(gateway.origin, RESPONSES, { model: 'agent', input: [] });
  expect(answer.status).toBe(422);
  expect(JSON.parse(answer.body).error).toMatchObject({
    code: 'request.invalid',
    param: 'input',
    message: 'input: contains no message',
    details: { fields: [{ path: 'input', reason: 'contains no message' }] },
  });
  expect(slots.requests).toEqual([]);
});
