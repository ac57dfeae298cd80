import type { CallScanner } from './pieces.ts';
import type { Accepts, SchemaOf } from './scanner.ts';
import { type Tags, taggedCalls } from './tagged.ts';

export const QWEN_CODER: Tags = {
  wrap: ['<tool_call>', '</tool_call>'],
  open: '<function=',
  nameEnd: />/,
  key: ['<parameter=', '>'],
  value: null,
  valueEnd: '</parameter>',
  close: '</function>',
  padded: true,
};

const GLM: Tags = {
  wrap: null,
  open: '<tool_call>',
  nameEnd: /[\n<]/,
  key: ['<arg_key>', '</arg_key>'],
  value: '<arg_value>',
  valueEnd: '</arg_value>',
  close: '</tool_call>',
  padded: false,
};

export const QWEN_CODER_MARKS: readonly string[] = ['<tool_call>', '</tool_call>'];
export const GLM_MARKS: readonly string[] = [
  ...['<tool_call>', '</tool_call>', '<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'],
];

/**
 * Qwen3-Coder, Qwen3.5: `<function=NAME><parameter=KEY>value</parameter></function>`. Models often omit the
 * surrounding tag.
 */
export const qwenCoderCalls = (accepts: Accepts, schemaOf: SchemaOf): CallScanner =>
  taggedCalls(QWEN_CODER, accepts, schemaOf);

/** GLM 4.5 and later: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>`. */
export const glmCalls = (accepts: Accepts, schemaOf: SchemaOf): CallScanner =>
  taggedCalls(GLM, accepts, schemaOf);
