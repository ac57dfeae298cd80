/** An answer that a client sends back in its next request is the same message of a chat, whatever its parts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import { asList, asObject, type Json } from './dialects/json.ts';
import { messages } from './dialects/messages/messages.ts';
import { readMessages } from './dialects/messages/request.ts';
import { readResponses } from './dialects/responses/request.ts';
import { responses } from './dialects/responses/responses.ts';
import {
  type AnyChoice,
  anyChoice,
  anyStyle,
  completeAnswer,
  type StreamStyle,
  streamedAnswer,
} from './testing/any-answer.ts';
import { BODIES, eventsOf, hi, MESSAGES, PATHS, type Path, RESPONSES } from './testing/dialects.ts';

const DIALECTS = { [RESPONSES]: responses, [MESSAGES]: messages } as const;
const BY = { model: 'm', upstream: null };
const translationOf = (path: Path) =>
  DIALECTS[path](Buffer.from(JSON.stringify({ ...BODIES[path], stream: true })), null);

/** Returns the blocks of a streamed message, as Anthropic's client assembles them. */
function blocksOf(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  let args = '';
  for (const { type, content_block, delta: sent } of events) {
    const last = blocks.at(-1) ?? {};
    const delta = asObject(sent) ?? {};
    if (type === 'content_block_start') {
      args = '';
      blocks.push({ ...asObject(content_block) });
    }
    if (delta.type === 'thinking_delta') last.thinking = `${last.thinking}${delta.thinking}`;
    if (delta.type === 'text_delta') last.text = `${last.text}${delta.text}`;
    if (delta.type === 'signature_delta') last.signature = delta.signature;
    if (delta.type === 'input_json_delta') args += delta.partial_json;
    if (type === 'content_block_stop' && last.type === 'tool_use') last.input = JSON.parse(args || '{}');
  }
  return blocks;
}

/** Returns the output items or content blocks that a client has received. */
function received(path: Path, chat: Json, chunks: readonly Json[] | null): Json[] {
  if (chunks === null) {
    const body = translationOf(path).whole(chat, BY);
    return asList(path === RESPONSES ? body.output : body.content) as Json[];
  }
  const encoder = translationOf(path).events(BY);
  const events = eventsOf(
    [encoder.open(), ...chunks.map((chunk) => encoder.chunk(chunk)), encoder.end()].join(''),
  );
  if (path === MESSAGES) return blocksOf(events);
  return asList(asObject(events.at(-1)?.response)?.output) as Json[];
}

const idsOf = (path: Path, parts: readonly Json[]): unknown[] =>
  path === RESPONSES
    ? parts.filter(({ type }) => type === 'function_call').map(({ call_id: id }) => id)
    : parts.filter(({ type }) => type === 'tool_use').map(({ id }) => id);

/** Returns the chat of the next request: the answer, the results of its calls, and a question. */
function nextChat(path: Path, parts: readonly Json[]): Json[] {
  const ids = idsOf(path, parts);
  if (path === RESPONSES) {
    const results = ids.map((id) => ({ type: 'function_call_output', call_id: id, output: 'ok' }));
    const input = [...hi, ...parts, ...results, { role: 'user', content: 'And?' }];
    return asList(readResponses(Buffer.from(JSON.stringify({ input }))).chat.messages) as Json[];
  }
  const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }));
  const turns = [
    ...hi,
    { role: 'assistant', content: parts },
    { role: 'user', content: [...results, { type: 'text', text: 'And?' }] },
  ];
  return asList(
    readMessages(Buffer.from(JSON.stringify({ max_tokens: 9, messages: turns }))).messages,
  ) as Json[];
}

/** Text and reasoning that a call interrupts are several parts, which are joined by lines. */
const withoutLines = (text: string): string => text.replaceAll('\n', '');

/** Returns the text, reasoning and calls of all assistant messages, and the roles that follow them. */
function readBack(chat: readonly Json[]) {
  const answers = chat.filter(({ role }) => role === 'assistant');
  const calls = answers.flatMap(({ tool_calls }) => asList(tool_calls) as { id: string; function: Json }[]);
  const textOf = (content: unknown): string =>
    typeof content === 'string'
      ? content
      : asList(content)
          .map((part) => String(asObject(part)?.text))
          .join('');
  return {
    text: withoutLines(answers.map(({ content }) => textOf(content ?? '')).join('')),
    reasoning: withoutLines(answers.map(({ reasoning_content: text }) => String(text ?? '')).join('')),
    calls: calls
      .map(({ id, function: { name, arguments: args } }) => ({
        id: /^call_[0-9a-f]{32}$/.test(id) ? 'call_made' : id,
        name,
        args: JSON.parse(String(args)),
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    results: chat.filter(({ role }) => role === 'tool').length,
    last: chat.at(-1),
  };
}

const expectedOf = ({ text, reasoning, calls }: AnyChoice, { old }: StreamStyle) => ({
  text: withoutLines(text),
  reasoning: withoutLines(reasoning),
  calls: calls.map(({ name, args }, index) => ({
    id: old && calls.length === 1 ? 'call_made' : `c0-${index}`,
    name,
    args: JSON.parse(JSON.stringify(args)),
  })),
  results: calls.length,
  last: { role: 'user', content: 'And?' },
});

test.each(PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const)))(
  '%s: an answer that is sent back is the same message (stream: %s)',
  (path, stream) => {
    fc.assert(
      fc.property(anyChoice, anyStyle, (choice, style) => {
        const chunks = stream ? streamedAnswer([choice], style) : null;
        const parts = received(path, completeAnswer([choice], style), chunks);
        expect(readBack(nextChat(path, parts))).toEqual(expectedOf(choice, style));
      }),
      fuzzing(`sent back ${path} ${stream}`, 10_000),
    );
  },
);
