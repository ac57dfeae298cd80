import type { CallScanner } from './pieces.ts';
import type { Accepts } from './scanner.ts';
import { asName, type SectionMarks, sectionedCalls } from './sectioned.ts';
import type { Tool } from './tool-choice.ts';

const SEPARATOR = '<｜tool▁sep｜>';
const OPEN = '<｜tool▁calls▁begin｜>';
const CLOSE = '<｜tool▁calls▁end｜>';
const CALL = '<｜tool▁call▁begin｜>';
const CALL_END = '<｜tool▁call▁end｜>';

/**
 * R1 writes `function⟨sep⟩name` and fences its arguments, V3.1 writes `name⟨sep⟩`. The small models misspell
 * the marks.
 */
const MARKS: SectionMarks = {
  opens: [
    OPEN,
    '<｜tool_calls_begin｜>',
    '<｜tool calls begin｜>',
    '<｜tool\\_calls\\_begin｜>',
    '<｜tool▁calls｜>',
  ],
  closes: [CLOSE],
  call: CALL,
  callEnd: CALL_END,
  head(text) {
    const at = text.indexOf(SEPARATOR);
    if (at < 0) return null;
    const after = text.slice(at + SEPARATOR.length).trim();
    const name = asName(after === '' ? text.slice(0, at) : (after.split('\n', 1)[0] as string));
    return name === null ? null : { name };
  },
};

export const DEEPSEEK_MARKS: readonly string[] = [OPEN, CLOSE, CALL, CALL_END, SEPARATOR];

/** DeepSeek R1 and V3: calls in a section at the end of the text. */
export const deepseekCalls = (accepts: Accepts): CallScanner => sectionedCalls(MARKS, accepts);

/** Describes the tools in the form that these models were trained with, because their templates do not. */
export function deepseekToolInstructions(tools: readonly Tool[]): string {
  const list = tools.map(({ function: { name, description, parameters } }) =>
    [
      `### ${name}`,
      ...(typeof description === 'string' ? [`Description: ${description}`] : []),
      `Parameters: ${JSON.stringify(parameters ?? {})}`,
    ].join('\n'),
  );
  return (
    `## Tools\nYou have access to the following tools:\n\n${list.join('\n\n')}\n\n` +
    `To use tools, write exactly: ${OPEN}${CALL}name of the tool${SEPARATOR}its arguments as JSON${CALL_END}` +
    `, with further calls right after it, and ${CLOSE} at the end. Only tools of this list exist; arguments fit their parameters.`
  );
}
