import type { Counts, Finish } from './answer.ts';
import type { EngineEvent } from './engine.ts';
import { type ToolCall, toolCallScanner } from './tool-calls.ts';

/** The events of an answer as clients see them. */
export type TextAnswer =
  | { type: 'started' }
  | { type: 'progress' }
  | { type: 'text'; text: string }
  | { type: 'call'; call: ToolCall; index: number }
  | { type: 'done'; finish: Finish; counts: Counts };

/** Takes tool calls out of the text when tools were offered; without, text passes as it is. */
export async function* readAnswer(
  events: AsyncIterable<EngineEvent>,
  tools: boolean,
): AsyncGenerator<TextAnswer> {
  if (!tools) return yield* events;
  const scanner = toolCallScanner();
  let calls = 0;
  for await (const event of events) {
    if (event.type === 'text') {
      const pieces = scanner.push(event.text);
      if (pieces.text !== '') yield { type: 'text', text: pieces.text };
      for (const call of pieces.calls) yield { type: 'call', call, index: calls++ };
    } else if (event.type === 'done') {
      const rest = scanner.end();
      if (rest !== '') yield { type: 'text', text: rest };
      yield { ...event, finish: calls > 0 && event.finish === 'stop' ? 'tool_calls' : event.finish };
    } else yield event;
  }
}
