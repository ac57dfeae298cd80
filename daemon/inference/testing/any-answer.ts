import fc from 'fast-check';

type Json = Record<string, unknown>;

/** A call of a model. */
export interface AnyCall {
  readonly name: string;
  readonly args: Json;
}

/** One choice of an answer, without the form in which it is sent. */
export interface AnyChoice {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly AnyCall[];
  readonly finish: string;
}

/** How an engine sends a stream. All values are legal; engines use each of them. */
export interface StreamStyle {
  /** Calls are numbered, or continued by their id. */
  readonly numbered: boolean;
  /** A single call has the form of OpenAI's older API, without an id. */
  readonly old: boolean;
  /** Id, name and type are in each fragment of a call. */
  readonly repeatsHead: boolean;
  /** The first fragment of a call has no arguments. */
  readonly headFirst: 'empty' | 'null' | 'absent' | 'no';
  /** The field of the reasoning; `content` for parts of the content, as Mistral sends them. */
  readonly thoughtField: 'reasoning' | 'reasoning_content' | 'content';
  /** The finish reason is in a separate chunk. */
  readonly finishAlone: boolean;
  /** The token counts are absent, in the last chunk, or in a chunk without choices. */
  readonly usage: 'none' | 'last' | 'alone';
  /** Chunks without content are between the others. */
  readonly idleChunks: boolean;
  /** Characters of a fragment. */
  readonly size: number;
  /** Decides which part comes next. */
  readonly picks: readonly number[];
}

export const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

const call = fc.record({
  name: fc.constantFrom('f', 'g', 'get_weather'),
  args: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
});
const text = fc.string({ unit: 'binary' });

/** Any choice of a chat. */
export const anyChoice: fc.Arbitrary<AnyChoice> = fc
  .record({ reasoning: text, text, calls: fc.array(call, { maxLength: 4 }) })
  .map((choice) => ({ ...choice, finish: choice.calls.length > 0 ? 'tool_calls' : 'stop' }));

/** Any way to send a stream. */
export const anyStyle: fc.Arbitrary<StreamStyle> = fc.record({
  numbered: fc.boolean(),
  old: fc.boolean(),
  repeatsHead: fc.boolean(),
  headFirst: fc.constantFrom('empty', 'null', 'absent', 'no'),
  thoughtField: fc.constantFrom('reasoning', 'reasoning_content', 'content'),
  finishAlone: fc.boolean(),
  usage: fc.constantFrom('none', 'last', 'alone'),
  idleChunks: fc.boolean(),
  size: fc.integer({ min: 1, max: 9 }),
  picks: fc.array(fc.nat(), { minLength: 1 }),
});

const partsOf = (whole: string, size: number): string[] =>
  whole.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];

const idOf = (choice: number, index: number): string => `c${choice}-${index}`;

const isOld = (calls: readonly AnyCall[], { old }: StreamStyle): boolean => old && calls.length === 1;

function callFields(calls: readonly AnyCall[], choice: number, style: StreamStyle): Json {
  if (calls.length === 0) return {};
  const list = calls.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) }));
  if (isOld(calls, style)) return { function_call: list[0] };
  return {
    tool_calls: list.map((called, index) => ({
      id: idOf(choice, index),
      type: 'function',
      function: called,
    })),
  };
}

const thinkingPart = (text: string): Json => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

function textFields(content: string | null, reasoning: string, field: StreamStyle['thoughtField']): Json {
  if (reasoning === '') return { content };
  if (field !== 'content') return { [field]: reasoning, content };
  return { content: [thinkingPart(reasoning), ...(content ? [{ type: 'text', text: content }] : [])] };
}

/** Returns the complete answer. */
export function completeAnswer(choices: readonly AnyChoice[], style: StreamStyle): Json {
  const { thoughtField, usage } = style;
  return {
    id: 'x',
    object: 'chat.completion',
    choices: choices.map(({ reasoning, text: content, calls, finish }, at) => ({
      index: at,
      message: {
        role: 'assistant',
        ...textFields(content === '' && calls.length > 0 ? null : content, reasoning, thoughtField),
        ...callFields(calls, at, style),
      },
      finish_reason: isOld(calls, style) ? 'function_call' : finish,
    })),
    ...(usage === 'none' ? {} : { usage: USAGE }),
  };
}

/** Returns the fragments of one call. */
function fragmentsOf({ name, args }: AnyCall, id: string, index: number, style: StreamStyle): Json[] {
  const { numbered, repeatsHead, headFirst, size } = style;
  const parts = partsOf(JSON.stringify(args), size);
  const number = numbered ? { index } : {};
  const first = { empty: { arguments: '' }, null: { arguments: null }, absent: {}, no: null }[headFirst];
  const fragments = [...(first === null ? [] : [first]), ...parts.map((part) => ({ arguments: part }))];
  return fragments.map((fragment, at) => {
    const hasHead = at === 0 || repeatsHead;
    return {
      ...number,
      ...(hasHead || !numbered ? { id } : {}),
      ...(hasHead ? { type: 'function' } : {}),
      function: { ...(hasHead ? { name } : {}), ...fragment },
    };
  });
}

/** Returns the queues of deltas of one choice. The deltas of one queue stay in their order. */
function queuesOf(choice: AnyChoice, at: number, style: StreamStyle): Json[][] {
  const { size, thoughtField } = style;
  return [
    partsOf(choice.reasoning, size).map((part) =>
      thoughtField === 'content' ? { content: [thinkingPart(part)] } : { [thoughtField]: part },
    ),
    partsOf(choice.text, size).map((part) => ({ content: part })),
    ...choice.calls.map((each, index) =>
      fragmentsOf(each, idOf(at, index), index, style).map((fragment) =>
        isOld(choice.calls, style) ? { function_call: fragment.function } : { tool_calls: [fragment] },
      ),
    ),
  ];
}

/** Returns the chunks of the streamed answer. */
export function streamedAnswer(choices: readonly AnyChoice[], style: StreamStyle): Json[] {
  const head = { id: 'x', object: 'chat.completion.chunk' };
  const chunk = (index: number, delta: Json, finish_reason: string | null = null): Json => ({
    ...head,
    choices: [{ index, delta, finish_reason }],
  });
  const queues = choices.flatMap((choice, at) =>
    queuesOf(choice, at, style).map((deltas) => ({ at, deltas })),
  );
  const chunks = choices.map((_, at) => chunk(at, { role: 'assistant', content: '' }));
  for (let step = 0; ; step++) {
    const left = queues.filter(({ deltas }) => deltas.length > 0);
    const pick = style.picks[step % style.picks.length] ?? 0;
    const queue = left[pick % left.length];
    if (queue === undefined) break;
    chunks.push(chunk(queue.at, queue.deltas.shift() ?? {}));
    if (style.idleChunks && pick % 3 === 0) chunks.push(chunk(queue.at, {}), { ...head, choices: [] });
  }
  for (const [at, { finish, calls }] of choices.entries())
    finishChoice(chunks, at, isOld(calls, style) ? 'function_call' : finish, style, chunk);
  const last = chunks.at(-1) ?? {};
  if (style.usage === 'last') chunks[chunks.length - 1] = { ...last, usage: USAGE };
  if (style.usage === 'alone') chunks.push({ ...head, choices: [], usage: USAGE });
  return chunks;
}

/** Ends a choice in a separate chunk, or in its last chunk. */
function finishChoice(
  chunks: Json[],
  at: number,
  finish: string,
  { finishAlone }: StreamStyle,
  chunk: (index: number, delta: Json, finish: string) => Json,
): void {
  const own = chunks.findLastIndex(({ choices }) => (choices as { index: number }[])[0]?.index === at);
  const [last] = (chunks[own]?.choices ?? []) as { delta: Json }[];
  if (finishAlone || last === undefined) chunks.push(chunk(at, {}, finish));
  else chunks[own] = chunk(at, last.delta, finish);
}

/** Returns the bytes of an event stream. */
export const streamBytes = (chunks: readonly Json[]): Buffer =>
  Buffer.from(
    [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  );

/** Cuts bytes into pieces of these lengths, repeated. */
export function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, step = 0; at < bytes.length; step++) {
    const size = 1 + ((sizes[step % sizes.length] ?? 0) % 97);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
