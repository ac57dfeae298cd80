import { describe, expect, test } from 'vitest';
import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import { CHAT, joinDeltas, startTestWorker, user } from './testing/worker-client.ts';

const THOUGHTS = ['\nFirst', ' this, then', ' that.\n', '</think>', '\n\n', 'Done', ' so.'];
/** Like Qwen's templates: reasons unless turned off. */
const SWITCHED = `${CHATML}{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{%- else %}{{ '<think>\\n' }}{%- endif %}`;

describe('a model that writes its reasoning', () => {
  const { request, stream } = startTestWorker({
    template: CHATML,
    script: ['<think>', ...THOUGHTS],
    runs: false,
  });

  test('separates its reasoning, complete and streamed', async () => {
    const body = { messages: user('x'), temperature: 0 };
    const [choice] = (await request(CHAT, body)).choices;
    expect(choice?.message).toEqual({
      role: 'assistant',
      content: 'Done so.',
      refusal: null,
      reasoning_content: 'First this, then that.',
    });
    const chunks = await stream(CHAT, body);
    expect(joinDeltas(chunks)).toMatchObject({
      content: 'Done so.',
      reasoning_content: 'First this, then that.',
    });
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta?.reasoning_content).length).toBeGreaterThan(1);
  });

  test('leaves it in the text when requested', async () => {
    const [choice] = (await request(CHAT, { messages: user('x'), temperature: 0, reasoning_format: 'none' }))
      .choices;
    expect(choice?.message?.content).toMatch(/^<think>\nFirst[\s\S]*<\/think>\n\nDone so\.$/);
  });
});

describe('a model whose template opens the reasoning', () => {
  const { request } = startTestWorker({ template: SWITCHED, script: THOUGHTS, runs: false });
  const messageFor = async (extra: object) =>
    (await request(CHAT, { messages: user('x'), temperature: 0, ...extra })).choices[0]?.message;

  test('starts the answer inside the reasoning', async () => {
    expect(await messageFor({})).toMatchObject({
      content: 'Done so.',
      reasoning_content: 'First this, then that.',
    });
    expect(await messageFor({ max_tokens: 2 })).toMatchObject({
      content: '',
      reasoning_content: 'First this, then',
    });
  });

  test.each([
    { chat_template_kwargs: { enable_thinking: false } },
    { enable_thinking: false },
    { reasoning_effort: 'none' },
  ])('%j closes it in the prompt', async (off) => {
    expect((await messageFor(off))?.reasoning_content).toBeUndefined();
  });

  test('enforces a structure after the reasoning', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const message = await messageFor({ json_schema: schema, max_tokens: 100 });
    expect(message?.reasoning_content).toBe('First this, then that.');
    expect(JSON.parse(message?.content ?? '')).toEqual({ ok: expect.any(Boolean) });
  });

  test('writes a required call after the reasoning', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const message = await messageFor({ tools, tool_choice: 'required', max_tokens: 200 });
    expect(message).toMatchObject({
      reasoning_content: 'First this, then that.',
      tool_calls: [{ function: { name: 'f' } }],
    });
  });
});
