import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { longestOpenEnd } from './stop-scanner.ts';

export interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string /** JSON text. */; arguments: string };
}

export interface ToolPieces {
  text: string;
  calls: ToolCall[];
}

/** Takes the calls out of a stream of text pieces. */
export interface ToolCallScanner {
  push(piece: string): ToolPieces;
  /** What was held back, as text, once no more comes. */
  end(): string;
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const written = z.looseObject({ name: z.string().min(1), arguments: z.unknown().optional() });

/** Finds calls in the Hermes form `<tool_call>{"name", "arguments"}</tool_call>`; what cannot be read as a call stays text. */
export function toolCallScanner(): ToolCallScanner {
  let held = '';
  let inside = false;
  let body: string[] = [];
  /** Takes `text` up to the next mark; answers what follows the mark, or null when there is none yet. */
  const step = (out: ToolPieces, text: string): string | null => {
    const mark = inside ? CLOSE : OPEN;
    const at = text.indexOf(mark);
    const end = at < 0 ? text.length - longestOpenEnd(text, [mark]) : at;
    if (inside) body.push(text.slice(0, end));
    else out.text += text.slice(0, end);
    held = at < 0 ? text.slice(end) : '';
    if (at < 0) return null;
    if (inside) addCall(out, body.join(''));
    body = [];
    inside = !inside;
    return text.slice(at + mark.length);
  };
  return {
    push(piece) {
      const out: ToolPieces = { text: '', calls: [] };
      let rest: string | null = held + piece;
      while (rest !== null) rest = step(out, rest);
      return out;
    },
    end() {
      const rest = inside ? OPEN + body.join('') + held : held;
      held = '';
      body = [];
      inside = false;
      return rest;
    },
  };
}

function addCall(out: ToolPieces, inner: string): void {
  const call = readCall(inner);
  if (call === null) out.text += OPEN + inner + CLOSE;
  else out.calls.push(call);
}

function readCall(inner: string): ToolCall | null {
  let value: unknown;
  try {
    value = JSON.parse(inner);
  } catch {
    return null;
  }
  const parsed = written.safeParse(value);
  if (!parsed.success) return null;
  const { name, arguments: given = {} } = parsed.data;
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  return {
    id: `call_${randomUUID().replaceAll('-', '')}`,
    type: 'function',
    function: { name, arguments: text },
  };
}
