import type { Tokens } from './step.ts';

/** What one chunk of a streamed chat says. */
export type ChatPiece =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly name: string; readonly arguments: string }
  | { readonly kind: 'finish'; readonly reason: string }
  | { readonly kind: 'tokens'; readonly tokens: Tokens };

interface Chunk {
  choices?: readonly {
    delta?: {
      content?: unknown;
      tool_calls?: readonly { index?: unknown; function?: { name?: unknown; arguments?: unknown } }[];
    };
    finish_reason?: unknown;
  }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Reads a chunk; thoughts are not said. Pure, and never throws. */
export function piecesOf(event: Record<string, unknown>): ChatPiece[] {
  const { choices, usage } = event as Chunk;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const pieces: ChatPiece[] = [];
  const text = textOf(choice?.delta?.content);
  if (text !== '') pieces.push({ kind: 'words', text });
  const calls = choice?.delta?.tool_calls;
  for (const [place, call] of (Array.isArray(calls) ? calls : []).entries()) {
    const index = typeof call?.index === 'number' ? call.index : place;
    const name = textOf(call?.function?.name);
    pieces.push({ kind: 'call', index, name, arguments: textOf(call?.function?.arguments) });
  }
  const reason = textOf(choice?.finish_reason);
  if (reason !== '') pieces.push({ kind: 'finish', reason });
  const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
  if (typeof input === 'number' && typeof output === 'number')
    pieces.push({ kind: 'tokens', tokens: { input, output } });
  return pieces;
}
