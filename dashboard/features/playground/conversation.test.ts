import { describe, expect, it } from 'vitest';
import { beforeLastAnswer, bodyOf, FRESH, nextId, turn, withChange, withTurns } from './conversation.ts';

const question = turn(1, 'user', 'agent', 'Hi');
const answered = { ...turn(2, 'assistant', 'agent', 'Hello'), state: 'done' as const };

describe('bodyOf', () => {
  it('omits parameters that are not set', () => {
    expect(bodyOf([question], 'agent', FRESH.parameters)).toEqual({
      model: 'agent',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('puts the system prompt first and skips answers without text', () => {
    const failed = { ...turn(3, 'assistant', 'agent'), state: 'failed' as const };
    const parameters = {
      ...FRESH.parameters,
      system: ' Be brief. ',
      temperature: 0,
      topP: 0.9,
      maxTokens: 64,
    };
    const body = bodyOf([question, answered, failed], 'agent', parameters);
    expect(body).toMatchObject({ temperature: 0, top_p: 0.9, max_tokens: 64 });
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]);
  });
});

describe('images and tools', () => {
  it('sends images as parts of their message; tools and the tool loop only when enabled', () => {
    const shown = turn(1, 'user', 'agent', 'What is it?', ['data:image/jpeg;base64,AA==']);
    const parameters = { ...FRESH.parameters, tools: '[{"type":"function"}]', omni: true };
    expect(bodyOf([shown], 'agent', parameters)).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AA==' } },
          ],
        },
      ],
      tools: [{ type: 'function' }],
      omni: true,
    });
    expect(bodyOf([shown], 'agent', { ...parameters, tools: '[{', omni: false })).not.toHaveProperty('tools');
  });
});

describe('an answer that called tools', () => {
  const call = { key: 'call-0', id: 'c1', name: 'get_time', arguments: '{}' };
  const called = (result: { ok: boolean; content: string; ms: null } | null, content = '') => ({
    ...turn(2, 'assistant', 'agent', content),
    calls: [{ ...call, result }],
  });

  it('is sent with its results, followed by the answer to them', () => {
    const noon = called({ ok: true, content: 'noon', ms: null });
    const body = bodyOf([question, noon, { ...answered, id: 3 }], 'agent', FRESH.parameters);
    expect(body.messages).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_time', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'noon' },
      { role: 'assistant', content: 'Hello' },
    ]);
  });

  it('is sent as its text only while a result is missing', () => {
    const messages = (row: ReturnType<typeof called>) =>
      bodyOf([question, row], 'agent', FRESH.parameters).messages;
    expect(messages(called(null))).toEqual([{ role: 'user', content: 'Hi' }]);
    expect(messages(called(null, 'Let me look.'))).toHaveLength(2);
  });
});

describe('turns', () => {
  it('have increasing ids, are changed by id, and are bounded', () => {
    expect(nextId([])).toBe(1);
    expect(nextId([question, answered])).toBe(3);
    expect(withChange([question, answered], 2, { content: 'x' })[1]?.content).toBe('x');
    const many = Array.from({ length: 250 }, (_, at) => turn(at, 'user', 'm'));
    expect(withTurns(many, [turn(999, 'user', 'm')])).toHaveLength(200);
    expect(withTurns(many, [turn(999, 'user', 'm')]).at(-1)?.id).toBe(999);
  });

  it('only an answer can be regenerated', () => {
    expect(beforeLastAnswer([question, answered])).toEqual([question]);
    expect(beforeLastAnswer([question])).toBeNull();
    expect(beforeLastAnswer([])).toBeNull();
  });
});
