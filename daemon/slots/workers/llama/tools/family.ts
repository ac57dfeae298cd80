import { bareCalls, PYTHON_TAG } from './bare-json.ts';
import { hermesCalls } from './hermes.ts';
import { mistralCalls } from './mistral.ts';
import type { CallScanner } from './pieces.ts';
import type { Accepts } from './scanner.ts';

/** How the models of one kind write a call. */
export interface ToolFamily {
  id: 'hermes' | 'llama3' | 'mistral' | 'json';
  /** Control tokens that mark a call and must be seen as text. */
  marks: readonly string[];
  /** Under which key a call holds its arguments. */
  argumentsKey: 'arguments' | 'parameters';
  /** Ids that the templates of this family take back. */
  id9: boolean;
  /** True: any name behind the mark is a call. False: only a name that was offered. */
  marked: boolean;
  scanner(accepts: Accepts): CallScanner;
}

/** A plain JSON object: what a model answers that was told so in words, or forced by a grammar. */
export const PLAIN_JSON: ToolFamily = {
  id: 'json',
  marks: [],
  argumentsKey: 'arguments',
  id9: false,
  marked: false,
  scanner: bareCalls,
};

/** In this order; the first whose words stand in the chat template. */
const FAMILIES: readonly { family: ToolFamily; words: RegExp }[] = [
  {
    words: /<tool_call>/,
    family: {
      ...PLAIN_JSON,
      id: 'hermes',
      marks: ['<tool_call>', '</tool_call>'],
      marked: true,
      scanner: hermesCalls,
    },
  },
  {
    words: /\[TOOL_CALLS\]/,
    family: {
      ...PLAIN_JSON,
      id: 'mistral',
      marks: ['[TOOL_CALLS]', '[ARGS]', '[CALL_ID]'],
      id9: true,
      marked: true,
      scanner: mistralCalls,
    },
  },
  {
    words: /<\|python_tag\|>|<\|start_header_id\|>[\s\S]*\bparameters\b/,
    family: { ...PLAIN_JSON, id: 'llama3', marks: [PYTHON_TAG], argumentsKey: 'parameters' },
  },
];

/** The family of the models that carry this chat template. */
export function toolFamily(template: string): ToolFamily {
  return FAMILIES.find(({ words }) => words.test(template))?.family ?? PLAIN_JSON;
}
