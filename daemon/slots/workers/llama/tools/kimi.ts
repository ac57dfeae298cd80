import type { CallScanner } from './pieces.ts';
import type { Accepts } from './scanner.ts';
import { asName, type SectionMarks, sectionedCalls } from './sectioned.ts';

const ARGUMENTS = '<|tool_call_argument_begin|>';

/** A call is named `functions.NAME:NUMBER`. The template expects that name as the id. */
const MARKS: SectionMarks = {
  opens: ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>'],
  closes: ['<|tool_calls_section_end|>', '<|tool_call_section_end|>'],
  call: '<|tool_call_begin|>',
  callEnd: '<|tool_call_end|>',
  head(text) {
    const at = text.indexOf(ARGUMENTS);
    const id = asName(at < 0 ? text : text.slice(0, at));
    const name = id === null ? null : asName(id.replace(/^functions\./, '').replace(/:\d+$/, ''));
    return id === null || name === null ? null : { name, id };
  },
};

export const KIMI_MARKS: readonly string[] = [
  ...MARKS.opens,
  ...MARKS.closes,
  MARKS.call,
  MARKS.callEnd,
  ARGUMENTS,
];

/** Kimi K2: calls in a section at the end of the text. */
export const kimiCalls = (accepts: Accepts): CallScanner => sectionedCalls(MARKS, accepts);
