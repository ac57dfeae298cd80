import { bareCalls, PYTHON_TAG } from './bare-json.ts';
import { DEEPSEEK_MARKS, deepseekCalls, deepseekToolInstructions } from './deepseek.ts';
import { HARMONY_MARKS, harmonyMessages } from './harmony.ts';
import { hermesCalls } from './hermes.ts';
import { KIMI_MARKS, kimiCalls } from './kimi.ts';
import { llamaCalls } from './llama.ts';
import { mistralCalls } from './mistral.ts';
import type { CallScanner } from './pieces.ts';
import type { Accepts, SchemaOf } from './scanner.ts';
import { GLM_MARKS, glmCalls, QWEN_CODER_MARKS, qwenCoderCalls } from './tag-families.ts';
import type { Tool } from './tool-choice.ts';

/** How the models of one kind write a call. */
export interface ToolFamily {
  id: 'harmony' | 'qwen-coder' | 'glm' | 'kimi' | 'deepseek' | 'hermes' | 'llama3' | 'mistral' | 'json';
  /** Control tokens that mark a call and must be seen as text. */
  marks: readonly string[];
  /** Under which key a call holds its arguments. */
  argumentsKey: 'arguments' | 'parameters';
  /** Ids that the templates of this family take back. */
  id9: boolean;
  /** True: any name behind the mark is a call. False: only a name that was offered. */
  marked: boolean;
  /** How tools are told to a model that knows this form although its template has no place for them. */
  toolInstructions: ((tools: readonly Tool[]) => string) | null;
  scanner(accepts: Accepts, schemaOf: SchemaOf): CallScanner;
}

/** A plain JSON object: what a model answers that was told so in words, or forced by a grammar. */
export const PLAIN_JSON: ToolFamily = {
  id: 'json',
  marks: [],
  argumentsKey: 'arguments',
  id9: false,
  marked: false,
  toolInstructions: null,
  scanner: bareCalls,
};

/** gpt-oss: its messages and their channels are read whether tools are offered or not. */
export const HARMONY: ToolFamily = {
  ...PLAIN_JSON,
  id: 'harmony',
  marks: HARMONY_MARKS,
  marked: true,
  scanner: (accepts, schemaOf) => harmonyMessages({ raw: false, header: '' }, accepts, schemaOf),
};

/** In this order; the first whose words stand in the chat template. */
const FAMILIES: readonly { family: ToolFamily; words: RegExp }[] = [
  { words: /<\|channel\|>/, family: HARMONY },
  {
    words: /<function=/,
    family: {
      ...PLAIN_JSON,
      id: 'qwen-coder',
      marks: QWEN_CODER_MARKS,
      marked: true,
      scanner: qwenCoderCalls,
    },
  },
  {
    words: /<arg_key>/,
    family: { ...PLAIN_JSON, id: 'glm', marks: GLM_MARKS, marked: true, scanner: glmCalls },
  },
  {
    words: /<\|tool_calls?_(section_)?begin\|>|<\|im_system\|>tool_declare/,
    family: { ...PLAIN_JSON, id: 'kimi', marks: KIMI_MARKS, marked: true, scanner: kimiCalls },
  },
  {
    words: /<｜tool▁calls?▁begin｜>/,
    family: {
      ...PLAIN_JSON,
      id: 'deepseek',
      marks: DEEPSEEK_MARKS,
      marked: true,
      toolInstructions: deepseekToolInstructions,
      scanner: deepseekCalls,
    },
  },
  {
    words: /<tool_call>/,
    family: {
      ...PLAIN_JSON,
      id: 'hermes',
      marks: ['<tool_call>', '</tool_call>'],
      marked: true,
      scanner: (accepts, schemaOf) => hermesCalls(accepts, (name) => schemaOf(name) !== undefined),
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
      scanner: (accepts, schemaOf) => mistralCalls(accepts, (name) => schemaOf(name) !== undefined),
    },
  },
  {
    words: /<\|python_tag\|>|<\|start_header_id\|>[\s\S]*\bparameters\b/,
    family: {
      ...PLAIN_JSON,
      id: 'llama3',
      marks: [PYTHON_TAG],
      argumentsKey: 'parameters',
      scanner: llamaCalls,
    },
  },
];

/** The family of the models that carry this chat template. */
export function toolFamily(template: string): ToolFamily {
  return FAMILIES.find(({ words }) => words.test(template))?.family ?? PLAIN_JSON;
}
