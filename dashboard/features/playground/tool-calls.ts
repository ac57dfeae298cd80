/** A tool that the model called, and what came of it: of the gateway's own run, or as the reader says. */
export interface ToolCall {
  /** What tells it from the others of its answer. */
  readonly key: string;
  /** Under which its result is told; null for those that the gateway runs itself. */
  readonly id: string | null;
  readonly name: string;
  /** As the model wrote them, usually JSON. */
  readonly arguments: string;
  readonly result: { readonly ok: boolean; readonly content: string; readonly ms: number | null } | null;
}

/** What one event says of a call; texts are added to what is known. */
export type CallPiece = Pick<ToolCall, 'key'> & Partial<ToolCall>;

interface ToolDelta {
  index?: number;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | null };
}
interface Activity {
  type?: string;
  id?: string;
  name?: string;
  arguments?: string;
  ok?: boolean;
  content?: unknown;
  ms?: number;
}

/** The calls in the delta of a chunk: they come in pieces, told apart by their index. */
export function callsOfDelta(deltas: readonly ToolDelta[] | null | undefined): CallPiece[] {
  return (deltas ?? []).map((delta, at) => ({
    key: `call-${delta.index ?? at}`,
    id: delta.id || null,
    name: delta.function?.name ?? '',
    arguments: delta.function?.arguments ?? '',
  }));
}

/**
 * Returns the calls that the gateway's own tool loop reports in `_svc.omni` of a chunk
 * (docs/spec/contract.md#omni).
 */
export function callsOfOmni(omni: Activity | undefined): CallPiece[] {
  if (omni?.id === undefined) return [];
  const key = `omni-${omni.id}`;
  if (omni.type === 'tool_call') return [{ key, name: omni.name ?? '', arguments: omni.arguments ?? '' }];
  if (omni.type !== 'tool_result') return [];
  const content = typeof omni.content === 'string' ? omni.content : JSON.stringify(omni.content ?? '');
  return [{ key, result: { ok: omni.ok === true, content, ms: omni.ms ?? null } }];
}

/** The calls of an answer after one more piece. */
export function withPiece(calls: readonly ToolCall[], piece: CallPiece): ToolCall[] {
  const fresh: ToolCall = { key: piece.key, id: null, name: '', arguments: '', result: null };
  const known = calls.find(({ key }) => key === piece.key) ?? fresh;
  const next = {
    ...known,
    id: known.id ?? piece.id ?? null,
    name: known.name || (piece.name ?? ''),
    arguments: known.arguments + (piece.arguments ?? ''),
    result: piece.result ?? known.result,
  };
  return known === fresh ? [...calls, next] : calls.map((call) => (call === known ? next : call));
}

/** Whether a call waits for a result that only the reader can give. */
export const isOpen = (call: ToolCall): boolean => typeof call.id === 'string' && call.result === null;

/** The calls with the reader's result of one of them. */
export const withResult = (calls: readonly ToolCall[], key: string, content: string): ToolCall[] =>
  calls.map((call) =>
    call.key === key && isOpen(call) ? { ...call, result: { ok: true, content, ms: null } } : call,
  );

/**
 * What a request says of the calls of an answer: the calls, then their results. Null unless the reader has given each
 * result: no model goes on with a call that has none.
 */
export function toldCalls(calls: readonly ToolCall[]): { calls: unknown[]; results: unknown[] } | null {
  const own = calls.filter(({ id }) => typeof id === 'string');
  if (own.length === 0 || own.some(isOpen)) return null;
  return {
    calls: own.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
    results: own.map(({ id, result }) => ({
      role: 'tool',
      tool_call_id: id,
      content: result?.content ?? '',
    })),
  };
}

/** The tools that were typed, as the request takes them; a sentence instead when they are none. Empty is no tools. */
export function toolsOf(text: string): { readonly tools: unknown[] | null; readonly fault: string | null } {
  if (text.trim() === '') return { tools: null, fault: null };
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read) && read.length > 0) return { tools: read, fault: null };
    return { tools: null, fault: 'Tools must be a list in JSON, as OpenAI takes it.' };
  } catch {
    return { tools: null, fault: 'This is not valid JSON yet, so no tools are sent.' };
  }
}

/** JSON with line breaks where it is JSON, else the text as it is. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
