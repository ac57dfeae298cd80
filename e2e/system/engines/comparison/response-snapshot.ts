import { dataOf } from '../../../../daemon/test/harness/stream.ts';
import { type Difference, differences } from './difference.ts';

interface Delta {
  role?: string;
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

interface Chunk {
  choices?: {
    index: number;
    delta?: Delta;
    text?: string;
    finish_reason?: string | null;
    logprobs?: unknown;
  }[];
  usage?: unknown;
  error?: unknown;
}

/** The compared parts of a response: status, content type and body. */
export interface ResponseSnapshot {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

const kindOf = (header: string | undefined): string => (header ?? '').split(';')[0]?.trim() ?? '';

/** Returns the snapshot of one response. A stream is reduced to one chunk of each kind and the joined content. */
export function responseSnapshot(
  status: number,
  contentType: string | undefined,
  text: string,
): ResponseSnapshot {
  const type = kindOf(contentType);
  if (type === 'text/event-stream') return { status, type, body: streamSnapshot(text) };
  return { status, type, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (key, value) => (key === 'embedding' ? decoded(value) : value));
  } catch {
    return text === '' ? null : 'no JSON';
  }
}

/** Decodes a base64 vector (little-endian float32), so that two vectors are compared as numbers. */
function decoded(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const bytes = Buffer.from(value, 'base64');
  return { base64: Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i)) };
}

/** Compares the whole text and the first chunk of each kind, because chunk boundaries depend on the engine. */
function streamSnapshot(text: string): object {
  const data = dataOf(text);
  const chunks = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each) as Chunk);
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  const first = (test: (choice: (typeof choices)[number]) => unknown) =>
    blanked(chunks.find((chunk) => chunk.choices?.some(test)));
  return {
    opening: first(({ delta }) => delta?.role),
    content: first(({ delta, text: part }) => delta?.content || part),
    call: first(({ delta }) => delta?.tool_calls?.[0]?.id),
    arguments: first(({ delta }) => delta?.tool_calls?.[0] && !delta.tool_calls[0].id),
    finish: first(({ finish_reason }) => finish_reason),
    usage: chunks.find(({ choices: none }) => none?.length === 0),
    error: chunks.find(({ error }) => error),
    done: data.at(-1) === '[DONE]',
    finishes: choices.filter(({ finish_reason }) => finish_reason).length,
    sameHead: new Set(chunks.map((chunk) => JSON.stringify([(chunk as { id?: string }).id]))).size === 1,
    text: choices.map(({ delta, text: part }) => delta?.content ?? part ?? '').join(''),
    calls: callsOf(choices.flatMap(({ delta }) => delta?.tool_calls ?? [])),
    tokens: choices.flatMap(({ logprobs }) => (logprobs as { content?: unknown[] } | null)?.content ?? []),
  };
}

function callsOf(parts: NonNullable<Delta['tool_calls']>): object[] {
  const calls: { name: string; arguments: string }[] = [];
  for (const { index, function: part } of parts) {
    calls[index] ??= { name: '', arguments: '' };
    calls[index].name += part?.name ?? '';
    calls[index].arguments += part?.arguments ?? '';
  }
  return calls;
}

/** Replaces values that depend on chunk boundaries by placeholders of the same type. */
function blanked(chunk: Chunk | undefined): unknown {
  return JSON.parse(JSON.stringify(chunk ?? null), (key, value) => {
    if (value === '' || value === null) return value;
    if (key === 'content' && Array.isArray(value)) return value.length > 0 ? ['…'] : value;
    return ['content', 'text', 'arguments'].includes(key) ? '…' : value;
  });
}

/** Returns the differences. When only one of the two is an error, the status is the only difference. */
export function snapshotDifferences(theirs: ResponseSnapshot, ours: ResponseSnapshot): Difference[] {
  const refused = ({ status }: ResponseSnapshot) => status >= 400;
  if (refused(theirs) !== refused(ours))
    return [{ field: 'status', theirs: String(theirs.status), ours: String(ours.status) }];
  return differences(theirs, ours);
}
