/** `item_reference` and `previous_response_id`, as clients of OpenAI's API send them. */
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../contract/errors.ts';
import { asList, type Json } from '../json.ts';
import { readResponses } from './request.ts';
import { ResponseMemory } from './response-memory.ts';
import { responses } from './responses.ts';

const hi = { role: 'user', content: 'hi' };
const reference = (id: string, more: Json = { type: 'item_reference' }) => ({ ...more, id });
const output = [
  { id: 'rs_1', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
  { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One.' }] },
  { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
];
const result = { type: 'function_call_output', call_id: 'c', output: 'ok' };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const turn = { role: 'assistant', reasoning_content: 'hm', content: 'One.', tool_calls: [call] };
const tool = { role: 'tool', tool_call_id: 'c', content: 'ok' };

function memoryWith(previous: string | null = null) {
  const memory = new ResponseMemory().of('me');
  if (previous !== null)
    memory.store({ id: previous, previous: null, input: [{ role: 'user', content: 'first' }], output: [] });
  memory.store({ id: 'resp_1', previous, input: [hi], output });
  return memory;
}

const read = (body: Json, memory = memoryWith()) =>
  asList(readResponses(Buffer.from(JSON.stringify(body)), undefined, memory).chat.messages);

function refusal(body: Json, memory = memoryWith()): GatewayError {
  try {
    read(body, memory);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('item_reference', () => {
  test.each<[string, unknown[], unknown[]]>([
    [
      'all items of a turn',
      [hi, reference('rs_1'), reference('msg_1'), reference('fc_1'), result],
      [hi, turn, tool],
    ],
    [
      'the reasoning alone, as AI SDK does',
      [hi, reference('rs_1'), output[1], output[2], result],
      [hi, turn, tool],
    ],
    ['a message alone', [hi, reference('msg_1'), hi], [hi, { role: 'assistant', content: 'One.' }, hi]],
    ['without a type', [hi, reference('msg_1', {}), hi], [hi, { role: 'assistant', content: 'One.' }, hi]],
    [
      'with a null type',
      [hi, reference('msg_1', { type: null }), hi],
      [hi, { role: 'assistant', content: 'One.' }, hi],
    ],
    [
      'in another order',
      [reference('fc_1'), result, reference('msg_1')],
      [
        { role: 'assistant', content: null, tool_calls: [call] },
        tool,
        { role: 'assistant', content: 'One.' },
      ],
    ],
  ])('%s', (_, input, messages) => {
    expect(read({ input })).toEqual(messages);
  });

  test.each<[string, unknown[], string]>([
    ['an unknown message', [hi, reference('msg_9')], 'input.1.id'],
    ['unknown reasoning', [hi, reference('rs_9'), hi], 'input.1.id'],
    ['the id of a response', [hi, reference('resp_1')], 'input.1.id'],
    ['without a type', [reference('x', {})], 'input.0.id'],
  ])('%s is refused with advice', (_, input, param) => {
    const error = refusal({ input });
    expect([error.status, error.code, error.options.param]).toEqual([
      400,
      'request.unknown_reference',
      param,
    ]);
    expect(error.message).toMatch(/whole conversation as input, with store: false/);
  });

  test('of another caller is refused', () => {
    const all = new ResponseMemory();
    all.of('you').store({ id: 'resp_1', previous: null, input: [hi], output });
    expect(refusal({ input: [reference('msg_1')] }, all.of('me')).status).toBe(400);
  });
});

describe('previous_response_id', () => {
  const body = { previous_response_id: 'resp_1', input: [result] };

  test('continues a conversation', () => {
    expect(read(body)).toEqual([hi, turn, tool]);
    expect(read({ ...body, input: 'And?' }).at(-1)).toEqual({ role: 'user', content: 'And?' });
    expect(read(body, memoryWith('resp_0'))).toEqual([{ role: 'user', content: 'first' }, hi, turn, tool]);
  });

  test('takes instructions from the request alone, at the start', () => {
    expect(read({ ...body, instructions: 'S' })).toEqual([{ role: 'system', content: 'S' }, hi, turn, tool]);
  });

  test('with a reference to the same response', () => {
    expect(read({ previous_response_id: 'resp_1', input: [reference('msg_1'), result] })).toHaveLength(3);
  });

  test.each(['resp_9', 'msg_1', ''])('%j is refused with advice', (id) => {
    const error = refusal({ previous_response_id: id, input: 'x' });
    expect([error.status, error.code]).toEqual([400, 'request.unknown_reference']);
    expect(error.options.param).toBe('previous_response_id');
    expect(error.message).toContain('store: false');
  });

  test('faults of the request keep their paths', () => {
    const file = { role: 'user', content: [{ type: 'input_file', file_id: 'f' }] };
    const error = refusal({ previous_response_id: 'resp_1', input: [result, file] });
    expect(error.options.param).toBe('input.1.content.0.type');
  });
});

describe('what is stored', () => {
  const answer = { choices: [{ message: { content: 'Two.' }, finish_reason: 'stop' }] };
  const chunk = { choices: [{ delta: { content: 'Two.' }, finish_reason: 'stop' }] };
  const by = { model: 'm', upstream: null };

  function answered(body: Json, stream: boolean) {
    const memory = memoryWith();
    const translation = responses(Buffer.from(JSON.stringify(body)), memory);
    if (!stream) return { memory, response: translation.whole(answer, by) };
    const events = translation.events(by);
    const text = events.open() + events.chunk(chunk) + events.end();
    const last = text.trim().split('\n\n').at(-1)?.split('\ndata: ')[1] ?? '';
    return { memory, response: (JSON.parse(last) as { response: Json }).response };
  }

  test.each([false, true])('every response and its input, stream %s', (stream) => {
    const { memory, response } = answered({ input: [reference('msg_1'), hi], stream }, stream);
    const [item] = response.output as Json[];
    expect(memory.item(String(item?.id))).toEqual(item);
    const next = read({ previous_response_id: response.id, input: 'And?' }, memory);
    expect(next).toEqual([
      { role: 'assistant', content: 'One.' },
      hi,
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'And?' },
    ]);
  });

  test.each([false, true])('the response names what it continues, stream %s', (stream) => {
    const { memory, response } = answered(
      { previous_response_id: 'resp_1', input: [result], stream },
      stream,
    );
    expect(response.previous_response_id).toBe('resp_1');
    expect(read({ previous_response_id: response.id, input: 'x' }, memory)).toHaveLength(5);
  });

  test.each([false, true])('nothing with store: false, stream %s', (stream) => {
    const { memory, response } = answered({ input: 'x', store: false, stream }, stream);
    expect(memory.conversation(String(response.id))).toBeUndefined();
  });
});
