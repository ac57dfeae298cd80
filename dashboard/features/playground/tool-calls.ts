/** A tool call with its result, from the gateway or entered by the user. */
export interface ToolCall {
  /** Unique within the answer. */
  readonly key: string;
  /** The `tool_call_id` of the result; null for calls that the gateway runs itself. */
  readonly id: string | null;
  readonly name: string;
  /** As written by the model, usually JSON. */
  readonly arguments: string;
  readonly result: { readonly ok: boolean; readonly content: string; readonly ms: number | null } | null;
}

/** The part of a call in one event; texts are appended. */
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

/** The calls in the delta of a chunk. They arrive in parts, identified by their index. */
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

/** Adds one part to the calls of an answer. */
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

/** Whether a call waits for a result from the user. */
export const isOpen = (call: ToolCall): boolean => typeof call.id === 'string' && call.result === null;

/** Sets the result of one call. */
export const withResult = (calls: readonly ToolCall[], key: string, content: string): ToolCall[] =>
  calls.map((call) =>
    call.key === key && isOpen(call) ? { ...call, result: { ok: true, content, ms: null } } : call,
  );

/**
 * The calls of an answer with their results, for the next request. Returns null while a result is missing, because models
 * reject a call without one.
 */
export function callsWithResults(
  calls: readonly ToolCall[],
): { calls: unknown[]; results: unknown[] } | null {
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

/** Parses the typed tools. Returns an error message for invalid input, and neither for empty input. */
export function toolsOf(text: string): { readonly tools: unknown[] | null; readonly fault: string | null } {
  if (text.trim() === '') return { tools: null, fault: null };
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read) && read.length > 0) return { tools: read, fault: null };
    return { tools: null, fault: 'Tools must be a JSON list in the OpenAI format.' };
  } catch {
    return { tools: null, fault: 'This is not valid JSON yet, so no tools are sent.' };
  }
}

/** Formats JSON; returns other text unchanged. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
