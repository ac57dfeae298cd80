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

/** How a family of models writes a call. */
export interface ToolFamily {
  id:
    | 'harmony'
    | 'qwen-coder'
    | 'glm'
    | 'kimi'
    | 'deepseek'
    | 'hermes'
    | 'llama3'
    | 'mistral'
    | 'functools'
    | 'json';
  /** Control tokens that mark a call and must be decoded as text. */
  marks: readonly string[];
  /** The key of the arguments in a call. */
  argumentsKey: 'arguments' | 'parameters';
  /** True: the templates of this family accept only nine-character ids. */
  id9: boolean;
  /** True: any name after the mark is a call. False: only an offered name. */
  marked: boolean;
  /** Describes tools to a model that knows this form although its template has no place for tools. */
  toolInstructions: ((tools: readonly Tool[]) => string) | null;
  scanner(accepts: Accepts, schemaOf: SchemaOf): CallScanner;
}

/** A plain JSON object: the form that instructions request or a grammar enforces. */
export const PLAIN_JSON: ToolFamily = {
  id: 'json',
  marks: [],
  argumentsKey: 'arguments',
  id9: false,
  marked: false,
  toolInstructions: null,
  scanner: bareCalls,
};

/** gpt-oss. Its messages and channels are parsed even without tools. */
export const HARMONY: ToolFamily = {
  ...PLAIN_JSON,
  id: 'harmony',
  marks: HARMONY_MARKS,
  marked: true,
  scanner: (accepts, schemaOf) => harmonyMessages({ raw: false, header: '' }, accepts, schemaOf),
};

/** In order of priority. The first family whose pattern matches the chat template is used. */
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
    words: /\bfunctools\[/,
    family: {
      ...PLAIN_JSON,
      id: 'functools',
      scanner: (accepts, schemaOf) =>
        mistralCalls(accepts, (name) => schemaOf(name) !== undefined, 'functools['),
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

/** Returns the family of a chat template. */
export function toolFamily(template: string): ToolFamily {
  return FAMILIES.find(({ words }) => words.test(template))?.family ?? PLAIN_JSON;
}
