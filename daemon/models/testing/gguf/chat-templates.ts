const TOOL_LIST =
  "{%- if tools %}{{ '<|im_start|>system\\nTools:\\n' }}{%- for tool in tools %}{{ (tool | tojson) + '\\n' }}{%- endfor %}{{ '<|im_end|>\\n' }}{%- endif %}";

const MESSAGES = [
  '{%- for message in messages %}',
  "{%- if message.role == 'tool' %}{{ '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}",
  "{%- elif message.role == 'assistant' and message.tool_calls %}{{ '<|im_start|>assistant\\n' }}{%- if message.content %}{{ message.content }}{%- endif %}",
  "{%- for call in message.tool_calls %}{{ '<tool_call>\\n{\"name\": \"' + call.function.name + '\", \"arguments\": ' }}{%- if call.function.arguments is string %}{{ call.function.arguments }}{%- else %}{{ call.function.arguments | tojson }}{%- endif %}{{ '}\\n</tool_call>' }}{%- endfor %}{{ '<|im_end|>\\n' }}",
  "{%- else %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}",
  '{%- endfor %}',
];

/** ChatML with Hermes-style tool calls. The answer starts after a newline. */
export const CHATML = [
  TOOL_LIST,
  ...MESSAGES,
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}",
].join('\n');

/**
 * The same, but the prompt ends in the marker `<|call|>` when tools are offered and the last message is no
 * tool result.
 */
export const CHATML_WITH_CALL_MARKER = [
  TOOL_LIST,
  ...MESSAGES,
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- if tools and messages and messages[-1].role != 'tool' %}{{ '<|call|>' }}{%- endif %}{%- endif %}",
].join('\n');

/**
 * The same for a model that reasons between `<think>` and `</think>`, except when `enable_thinking` is false.
 * Without tools.
 */
export const CHATML_THINKING = [
  '{%- for message in messages %}',
  "{%- if message.role == 'assistant' %}{{ '<|im_start|>assistant\\n' }}{%- if message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}{{ message.content + '<|im_end|>\\n' }}",
  "{%- else %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}",
  '{%- endfor %}',
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}",
].join('\n');
