import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../lib/testing/cpu-time.ts';
import type { SourcePaths } from '../error-paths.ts';
import { asList, type Json } from '../json.ts';
import { readResponses } from './request.ts';

const chatOf = (input: unknown, sourcePaths?: SourcePaths): Json =>
  readResponses(Buffer.from(JSON.stringify({ input })), sourcePaths).chat;
const messagesOf = (input: unknown) => chatOf(input).messages;

const assistantMessage = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const thinks = (text: string) => ({ type: 'reasoning', content: [{ type: 'reasoning_text', text }] });
const calls = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' });
const answers = (call_id: string, output: unknown = 'done') => ({
  type: 'function_call_output',
  call_id,
  output,
});
const called = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
const result = (tool_call_id: string, content = 'done') => ({ role: 'tool', tool_call_id, content });

describe('nothing is between a call and its result', () => {
  test('text and reasoning after a call belong to its turn', () => {
    const input = [
      thinks('a'),
      assistantMessage('One.'),
      calls('x'),
      assistantMessage('Two.'),
      thinks('b'),
      calls('y'),
    ];
    expect(messagesOf([...input, answers('x'), answers('y'), assistantMessage('Done.')])).toEqual([
      {
        role: 'assistant',
        reasoning_content: 'a\nb',
        content: 'One.\nTwo.',
        tool_calls: [called('x'), called('y')],
      },
      result('x'),
      result('y'),
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  test('text after a call that has no text', () => {
    expect(messagesOf([calls('x'), assistantMessage('Wait.'), answers('x')])).toEqual([
      { role: 'assistant', content: 'Wait.', tool_calls: [called('x')] },
      result('x'),
    ]);
  });

  test('text between two results belongs to the same turn', () => {
    const input = [
      calls('x'),
      calls('y'),
      answers('x'),
      thinks('a'),
      assistantMessage('Wait.'),
      answers('y'),
    ];
    expect(messagesOf(input)).toEqual([
      {
        role: 'assistant',
        reasoning_content: 'a',
        content: 'Wait.',
        tool_calls: [called('x'), called('y')],
      },
      result('x'),
      result('y'),
    ]);
  });

  test('a new turn begins after all results', () => {
    expect(messagesOf([calls('x'), answers('x'), calls('y'), answers('y')])).toEqual([
      { role: 'assistant', content: null, tool_calls: [called('x')] },
      result('x'),
      { role: 'assistant', content: null, tool_calls: [called('y')] },
      result('y'),
    ]);
  });

  test('a call without a result does not extend into the next turn', () => {
    expect(messagesOf([calls('x'), { role: 'user', content: 'Stop.' }, assistantMessage('Yes.')])).toEqual([
      { role: 'assistant', content: null, tool_calls: [called('x')] },
      { role: 'user', content: 'Stop.' },
      { role: 'assistant', content: 'Yes.' },
    ]);
  });
});

describe('images in results', () => {
  const textPart = { type: 'input_text', text: 'Seen.' };
  const imagePart = (image_url: string) => ({ type: 'input_image', image_url });
  const imageUrl = (url: string) => ({ type: 'image_url', image_url: { url } });

  test('follow the last result in a row as a user message', () => {
    const input = [
      calls('x'),
      calls('y'),
      answers('x', [textPart, imagePart('data:1')]),
      answers('y', [imagePart('data:2')]),
      { role: 'user', content: 'Well?' },
    ];
    expect(messagesOf(input)).toEqual([
      { role: 'assistant', content: null, tool_calls: [called('x'), called('y')] },
      result('x', 'Seen.'),
      result('y', ''),
      { role: 'user', content: [imageUrl('data:1'), imageUrl('data:2')] },
      { role: 'user', content: 'Well?' },
    ]);
  });

  test('precede the next turn, or are at the end', () => {
    const turn = (id: string) => [calls(id), answers(id, [textPart, imagePart(`data:${id}`)])];
    expect(messagesOf([...turn('x'), ...turn('y')])).toEqual([
      { role: 'assistant', content: null, tool_calls: [called('x')] },
      result('x', 'Seen.'),
      { role: 'user', content: [imageUrl('data:x')] },
      { role: 'assistant', content: null, tool_calls: [called('y')] },
      result('y', 'Seen.'),
      { role: 'user', content: [imageUrl('data:y')] },
    ]);
  });

  test('wait for a pending result', () => {
    const input = [
      calls('x'),
      calls('y'),
      answers('x', [imagePart('data:1')]),
      assistantMessage('Wait.'),
      answers('y'),
    ];
    expect(messagesOf(input)).toEqual([
      { role: 'assistant', content: 'Wait.', tool_calls: [called('x'), called('y')] },
      result('x', ''),
      result('y'),
      { role: 'user', content: [imageUrl('data:1')] },
    ]);
  });

  test("keep the caller's path", () => {
    const sourcePaths: SourcePaths = new WeakMap();
    const messages = asList(
      chatOf([calls('x'), answers('x', [textPart, imagePart('data:1')])], sourcePaths).messages,
    );
    const message = messages[2] as { content: Json[] };
    expect([sourcePaths.get(message), sourcePaths.get(message.content[0] as Json)]).toEqual([
      'input.1',
      'input.1.output.1',
    ]);
  });
});

describe('long sequences are read in one pass', () => {
  const shows = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'input_image', image_url: 'data:,' }],
  };

  test.each([
    ['calls', calls('x')],
    ['text with images', shows],
  ])('%s', (_, item) => {
    const cpuMs = cpuTimer();
    chatOf([calls('x'), ...Array(45_000).fill(item)]);
    expect(cpuMs()).toBeLessThan(4_000);
  });
});
