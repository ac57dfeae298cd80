import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventStream } from '../slots/workers/event-stream.ts';
import { type AnswerHead, CHAT, COMPLETION, type Dialect } from '../slots/workers/llama/chat-response.ts';
import { type AnswerJob, answerChoices } from '../slots/workers/llama/choices.ts';
import type { EngineEvent } from '../slots/workers/llama/engine.ts';
import { wholeAnswer } from '../slots/workers/llama/full-response.ts';
import { PLAIN_TEXT, type ReadOptions } from '../slots/workers/llama/response-reader.ts';
import { streamAnswer } from '../slots/workers/llama/stream-response.ts';
import { toolFamily } from '../slots/workers/llama/tools/family.ts';
import { NO_COUNTS } from '../slots/workers/llama/usage.ts';
import { fuzzing } from '../test/harness/scale.ts';
import { asList, asObject, type Json } from './dialects/json.ts';
import { ChatAssembler } from './forward/chat-framing.ts';

const HEAD: AnswerHead = { id: 'x', created: 1, model: 'm' };
const COUNTS = { ...NO_COUNTS, promptTokens: 3, completionTokens: 5 };
const READING: ReadOptions = {
  thoughts: { opened: null },
  calls: {
    family: toolFamily('<tool_call>'),
    tools: new Map([
      ['f', { type: 'object' }],
      ['g', { type: 'object' }],
    ]),
    parallel: true,
  },
};

/** The text of one choice: parts of the answers of a model, well formed or not. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<think>',
        '</think>',
        '\n',
        ' ',
        '<tool_call>',
        '</tool_call>',
        'words ',
        '{',
        '}',
        '"',
      ),
      fc
        .record({
          name: fc.constantFrom('f', 'g', 'x'),
          arguments: fc.dictionary(fc.string(), fc.jsonValue()),
        })
        .map((call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>\n`),
      fc.string({ unit: 'grapheme' }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const anyTexts = fc.array(anyText, { minLength: 1, maxLength: 3 });
const anySizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 });

/** What the engine generates for these choices, in fragments of these lengths. */
function* generated(texts: readonly string[], sizes: readonly number[]): Generator<EngineEvent> {
  yield { type: 'started' } as EngineEvent;
  for (const [choice, text] of texts.entries()) {
    const characters = [...text];
    for (let at = 0, step = 0; at < characters.length; step++) {
      const size = sizes[step % sizes.length] ?? 1;
      yield {
        type: 'text',
        choice,
        text: characters.slice(at, at + size).join(''),
        logprobs: null,
      } as EngineEvent;
      at += size;
    }
    yield { type: 'done', choice, finish: 'stop', counts: COUNTS } as EngineEvent;
  }
}

function answerOf(texts: readonly string[], sizes: readonly number[], readOptions: ReadOptions) {
  const job = { prompts: [[1]], n: texts.length, readOptions, echoes: null } as unknown as AnswerJob;
  const engine = async function* () {
    yield* generated(texts, sizes);
  };
  return answerChoices(engine, job, new AbortController().signal);
}

/** Returns the complete answer. */
async function complete(dialect: Dialect, ...args: Parameters<typeof answerOf>): Promise<Json> {
  const answer = await wholeAnswer(answerOf(...args));
  return JSON.parse(JSON.stringify(dialect.whole(HEAD, answer?.choices ?? [], answer?.counts ?? COUNTS)));
}

/** Returns the streamed answer, put together. */
async function streamed(dialect: Dialect, ...args: Parameters<typeof answerOf>): Promise<Json> {
  const assembler = new ChatAssembler();
  const write = (data: string): void => assembler.push(Buffer.from(`data: ${data}\n\n`));
  const stream = {
    send: async (value: object) => write(JSON.stringify(value)),
    comment: async () => {},
    done: () => write('[DONE]'),
    end: () => {},
    fail: (error: unknown) => {
      throw error;
    },
  } as EventStream;
  const context = { events: () => stream } as unknown as Parameters<typeof streamAnswer>[0];
  await streamAnswer(context, answerOf(...args), { dialect, head: HEAD, includeUsage: true });
  return JSON.parse(assembler.end().toString('utf8'));
}

/** Ids are new in each answer. */
const withoutIds = (answer: Json): unknown => ({
  usage: answer.usage,
  choices: asList(answer.choices).map((each) => {
    const { index, text, message, finish_reason } = asObject(each) ?? {};
    const { role, content, reasoning_content, tool_calls } = asObject(message) ?? {};
    const calls = asList(tool_calls).map((call) => asObject(call)?.function);
    return { index, text, role, content, reasoning_content, calls, finish_reason };
  }),
});

test.each([
  ['chat', CHAT, READING],
  ['chat without tools', CHAT, { ...READING, calls: null }],
  ['chat with one call', CHAT, { ...READING, calls: { ...READING.calls, parallel: false } } as ReadOptions],
  ['completion', COMPLETION, PLAIN_TEXT],
])(
  'embedded engine, %s: the stream gives the complete answer, for any fragments',
  async (_, dialect, reading) => {
    await fc.assert(
      fc.asyncProperty(anyTexts, anySizes, anySizes, async (texts, sizes, others) => {
        const expected = withoutIds(await complete(dialect, texts, sizes, reading));
        expect(withoutIds(await streamed(dialect, texts, others, reading))).toEqual(expected);
      }),
      fuzzing('embedded answers', 5_000),
    );
  },
);
