import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import type { CallerResponse } from './caller.ts';
import { asList, asObject, type Json } from './dialects/json.ts';
import { messages } from './dialects/messages/messages.ts';
import type { TextKind } from './dialects/piece.ts';
import { answerTexts } from './dialects/response-texts.ts';
import { responses } from './dialects/responses/responses.ts';
import { ChatEventFilter } from './forward/chat-event-filter.ts';
import { ChatAssembler, chatEvents } from './forward/chat-framing.ts';
import {
  bufferedEmitter,
  type LoopEnd,
  type ResponseEmitter,
  streamEmitter,
} from './omni/response-emitter.ts';
import { readRound } from './omni/round.ts';
import { SpokenPieces } from './realtime/chat-pieces.ts';
import {
  anyChoice,
  anyStyle,
  completeAnswer,
  cut,
  type StreamStyle,
  streamBytes,
  streamedAnswer,
  USAGE,
} from './testing/any-answer.ts';
import { blocksOf, outputOf, READERS } from './testing/dialect-readers.ts';
import { BODIES, eventsOf, MESSAGES, PATHS, type Path, RESPONSES } from './testing/dialects.ts';

const sizes = fc.array(fc.nat(), { minLength: 1, maxLength: 20 });
const one = anyChoice.map((choice) => [choice]);
const several = fc.array(anyChoice, { minLength: 1, maxLength: 3 });
const SUITE = 'translations';

const DIALECTS = { [RESPONSES]: responses, [MESSAGES]: messages } as const;
const BY = { model: 'm', upstream: null };
const translationOf = (path: Path) =>
  DIALECTS[path](Buffer.from(JSON.stringify({ ...BODIES[path], stream: true })), null);

/** Returns the chunks as the translation receives them: only those with content or token counts. */
function translated(path: Path, chunks: readonly Json[]): Json[] {
  const events = translationOf(path).events(BY);
  return eventsOf([events.open(), ...chunks.map((chunk) => events.chunk(chunk)), events.end()].join(''));
}

/** What ends a message: the stop reason or status, and the token counts. */
function endOf(path: Path, events: readonly Json[]): unknown {
  if (path === RESPONSES) {
    const response = asObject(events.at(-1)?.response);
    return [response?.status, response?.incomplete_details, response?.usage];
  }
  const { delta, usage } = events.at(-2) ?? {};
  return [asObject(delta)?.stop_reason, usage];
}

test.each(PATHS)('%s: any interleaving of a stream gives the message of the complete answer', (path) => {
  fc.assert(
    fc.property(one, anyStyle, (choices, style) => {
      const events = translated(path, streamedAnswer(choices, style));
      const body = translationOf(path).whole(completeAnswer(choices, style), BY);
      const isResponse = path === RESPONSES;
      expect(READERS[path](events)).toEqual(isResponse ? outputOf(asList(body.output)) : blocksOf(body));
      expect(endOf(path, events)).toEqual(
        isResponse ? [body.status, body.incomplete_details, body.usage] : [body.stop_reason, body.usage],
      );
    }),
    fuzzing(`${SUITE} ${path}`, 20_000),
  );
});

test('/v1/responses: events are numbered without a gap, and deltas repeat the items', () => {
  fc.assert(
    fc.property(one, anyStyle, (choices, style) => {
      const events = translated(RESPONSES, streamedAnswer(choices, style));
      expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
      const deltas = new Map<unknown, string>();
      for (const { type, item_id, delta, text, arguments: args } of events) {
        if (typeof delta === 'string') deltas.set(item_id, (deltas.get(item_id) ?? '') + delta);
        const whole = text ?? args;
        if (String(type).endsWith('.done') && typeof whole === 'string')
          expect(deltas.get(item_id)).toBe(whole);
      }
    }),
    fuzzing(`${SUITE} events`, 5_000),
  );
});

/** Returns the texts of content in parts, however they are cut. */
function contentOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts = answerTexts({ content });
  const joined = (kind: string) => texts.flatMap(({ type, text }) => (type === kind ? [text] : [])).join('');
  return { text: joined('text'), reasoning: joined('reasoning') };
}

/** Returns what matters of a chat. Calls without numbers have no order but that of their starts. */
function chatOf(bytes: Buffer, isOrdered: boolean): unknown {
  const { choices, usage } = JSON.parse(bytes.toString('utf8')) as Json;
  const read = asList(choices).map((choice) => {
    const { message, text, finish_reason } = asObject(choice) ?? {};
    const { tool_calls: calls, content, ...fields } = asObject(message) ?? {};
    return {
      fields,
      content: contentOf(content),
      calls: isOrdered ? calls : byArguments(asList(calls)),
      text,
      finish_reason,
    };
  });
  return [read, usage];
}

function assembled(bytes: Buffer, lengths: readonly number[]): Buffer {
  const assembler = new ChatAssembler();
  for (const piece of cut(bytes, lengths)) assembler.push(piece);
  return assembler.end();
}

test('/v1/chat/completions: a stream becomes the complete answer, and a complete answer the same stream', () => {
  fc.assert(
    fc.property(several, anyStyle, sizes, (choices, style, lengths) => {
      const complete = Buffer.from(JSON.stringify(completeAnswer(choices, style)));
      const streamed = assembled(streamBytes(streamedAnswer(choices, style)), lengths);
      expect(chatOf(streamed, style.numbered)).toEqual(chatOf(complete, style.numbered));
      const converted = assembled(Buffer.from(chatEvents(complete) ?? ''), lengths);
      expect(chatOf(converted, true)).toEqual(chatOf(complete, true));
    }),
    fuzzing(`${SUITE} chat`, 10_000),
  );
});

test('/v1/chat/completions: a stream passes unchanged, but for the token counts that the gateway requested', () => {
  fc.assert(
    fc.property(several, anyStyle, sizes, fc.boolean(), (choices, style, lengths, removes) => {
      const chunks = streamedAnswer(choices, style);
      const removed: Buffer[] = [];
      const filter = new ChatEventFilter(removes, (event) => removed.push(event));
      const passed = cut(streamBytes(chunks), lengths).map((piece) => filter.push(piece));
      const last = chunks.at(-1) ?? {};
      const isRemoved = removes && last.usage !== undefined && asList(last.choices).length === 0;
      expect(
        Buffer.concat([...passed, filter.end()]).equals(
          streamBytes(isRemoved ? chunks.slice(0, -1) : chunks),
        ),
      ).toBe(true);
      expect([filter.fault, removed.length]).toEqual([null, isRemoved ? 1 : 0]);
    }),
    fuzzing(`${SUITE} filter`, 5_000),
  );
});

test('/v1/completions: a stream becomes the complete answer, and a complete answer the same stream', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), anyStyle, sizes, (texts, style, lengths) => {
      const complete = {
        object: 'text_completion',
        choices: texts.map((each, index) => ({ index, text: each, finish_reason: 'stop' })),
      };
      const bytes = Buffer.from(JSON.stringify(complete));
      const queues = texts.map((each, index) => ({
        index,
        parts: [...(each.match(/[\s\S]{1,3}/g) ?? [''])],
      }));
      const chunks: Json[] = [];
      for (let step = 0; ; step++) {
        const left = queues.filter(({ parts }) => parts.length > 0);
        const queue = left[(style.picks[step % style.picks.length] ?? 0) % left.length];
        if (queue === undefined) break;
        const part = queue.parts.shift();
        const isLast = queue.parts.length === 0 && !style.finishAlone;
        const choice = { index: queue.index, text: part, finish_reason: isLast ? 'stop' : null };
        chunks.push({ object: 'text_completion', choices: [choice] });
      }
      if (style.finishAlone)
        chunks.push({ choices: texts.map((_, index) => ({ index, text: '', finish_reason: 'stop' })) });
      for (const stream of [streamBytes(chunks), Buffer.from(chatEvents(bytes) ?? '')])
        expect(chatOf(assembled(stream, lengths), true)).toEqual(chatOf(bytes, true));
    }),
    fuzzing(`${SUITE} completions`, 5_000),
  );
});

/** Reads one round of the tool loop. */
async function roundOf(body: readonly Buffer[], type: string) {
  const texts: Record<string, string> = {};
  const emitter = {
    text: async (kind: string, text: string) => {
      texts[kind] = (texts[kind] ?? '') + text;
    },
  };
  const reply = {
    status: 200,
    headers: { 'content-type': type },
    body: (async function* () {
      yield* body;
    })(),
    inBandError: () => null,
    abort: () => {},
  };
  let count = 0;
  const round = await readRound(reply, emitter as never, () => `id${count++}`);
  const calls = round.calls.map(({ name, arguments: text }) => ({ name, args: JSON.parse(text || '{}') }));
  return { texts, ...round, calls: byArguments(calls) };
}

/** Calls of a stream are in the order in which they begin. */
const byArguments = <T>(calls: readonly T[]): T[] =>
  calls.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

test('omni: a streamed round is the same as the complete one', async () => {
  await fc.assert(
    fc.asyncProperty(one, anyStyle, sizes, async (choices, style, lengths) => {
      const streamed = await roundOf(
        cut(streamBytes(streamedAnswer(choices, style)), lengths),
        'text/event-stream',
      );
      const bytes = Buffer.from(JSON.stringify(completeAnswer(choices, style)));
      expect(streamed).toEqual(await roundOf([bytes], 'application/json'));
    }),
    fuzzing(`${SUITE} omni`, 5_000),
  );
});

/** Returns what one emitter of the tool loop writes. */
async function emitted(
  create: (res: CallerResponse) => ResponseEmitter,
  texts: readonly (readonly [TextKind, string])[],
  end: LoopEnd,
): Promise<Buffer> {
  let written = '';
  const res = {
    destroyed: false,
    writeHead: () => {},
    write: (text: string) => {
      written += text;
      return true;
    },
    end: (text: string) => {
      written += text;
    },
  };
  const emitter = create(res as unknown as CallerResponse);
  emitter.open({ 'x-svc-model': 'm' });
  for (const [kind, text] of texts) await emitter.text(kind, text);
  emitter.end(end);
  emitter.dispose();
  return Buffer.from(written);
}

test('omni: a streamed answer to the caller is the same as the complete one', async () => {
  const texts = fc.array(
    fc.tuple(
      fc.constantFrom<TextKind>('text', 'reasoning', 'refusal'),
      fc.string({ unit: 'binary', minLength: 1 }),
    ),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(texts, anyChoice, sizes, async (parts, { calls, finish }, lengths) => {
      const end: LoopEnd = {
        finish,
        calls: calls.map(({ name, args }, index) => ({
          id: `c${index}`,
          name,
          arguments: JSON.stringify(args),
        })),
        usage: USAGE,
        rounds: 1,
        limited: false,
      };
      const stream = await emitted((res) => streamEmitter(res, 'x', true), parts, end);
      const whole = await emitted((res) => bufferedEmitter(res, 'x'), parts, end);
      const [streamed, complete] = [assembled(stream, lengths), whole].map((bytes) => {
        const [choices, usage] = chatOf(bytes, true) as [{ fields: Json; content: unknown }[], unknown];
        const [choice] = choices;
        // A complete answer names what it does not have.
        return {
          ...choice,
          content: choice?.content || null,
          fields: { refusal: null, ...choice?.fields },
          usage,
        };
      });
      expect(streamed).toEqual(complete);
    }),
    fuzzing(`${SUITE} omni answer`, 5_000),
  );
});

/** Reads the chat of a spoken response. */
function spoken(events: readonly Json[]) {
  const pieces = new SpokenPieces();
  let [text, finish, tokens] = ['', '', null as unknown];
  const calls: { name: string; text: string }[] = [];
  for (const piece of [...events.flatMap((event) => pieces.read(event)), ...pieces.end()]) {
    if (piece.kind === 'text') text += piece.text;
    else if (piece.kind === 'finish') finish = piece.reason;
    else if (piece.kind === 'tokens') tokens = piece.tokens;
    else {
      const call = calls[piece.index] ?? { name: '', text: '' };
      calls[piece.index] = { name: call.name + piece.name, text: call.text + piece.arguments };
    }
  }
  const read = calls.map(({ name, text: args }) => ({ name, args: JSON.parse(args || '{}') }));
  return { text, finish, tokens, calls: byArguments(read) };
}

test('realtime: a streamed chat is the same as the complete one', () => {
  fc.assert(
    fc.property(one, anyStyle, (choices, style: StreamStyle) => {
      expect(spoken(streamedAnswer(choices, style))).toEqual(spoken([completeAnswer(choices, style)]));
    }),
    fuzzing(`${SUITE} realtime`, 10_000),
  );
});
