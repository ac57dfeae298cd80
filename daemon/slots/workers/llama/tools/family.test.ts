import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { CHATML } from '../../../../models/testing/gguf/chat-templates.ts';
import { toolFamily } from './family.ts';

/** Text by which the templates of these models are recognised. */
test.each([
  [CHATML, 'hermes'],
  [
    'For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call>',
    'hermes',
  ],
  ['{{- "[TOOL_CALLS] [" }}{%- for tool_call in message.tool_calls %}', 'mistral'],
  [
    '{{- "<|start_header_id|>" + role }}{{- "Respond in the format {\\"name\\": function name, \\"parameters\\": dict}" }}',
    'llama3',
  ],
  ["{{- '<|python_tag|>' + tool_call.name }}", 'llama3'],
  ['{% for m in messages %}<start_of_turn>{{ m.content }}{% endfor %}', 'json'],
  ["{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>' }}", 'json'],
  [
    '{{- "<|start|>assistant to=functions." + tool_call.name + "<|channel|>commentary json<|message|>" }}',
    'harmony',
  ],
  [
    "'<tool_call>\\n<function=example_function_name>\\n<parameter=example_parameter_1>\\nvalue_1'",
    'qwen-coder',
  ],
  [
    '<tool_call>{function-name}\\n<arg_key>{arg-key-1}</arg_key>\\n<arg_value>{arg-value-1}</arg_value>',
    'glm',
  ],
  ["<|tool_calls_section_begin|>{%- for tool_call in message['tool_calls'] -%}", 'kimi'],
  ["{{ '<|im_system|>tool_declare<|im_middle|>' -}}", 'kimi'],
  ["{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>' + tool['type'] + '<｜tool▁sep｜>'}}", 'deepseek'],
])('%s belongs to the family %s', (template, id) => {
  expect(toolFamily(template).id).toBe(id);
});

const excerpts = z.object({
  templates: z.array(z.object({ template: z.string(), family: z.string(), excerpt: z.string() })),
});
const { templates } = excerpts.parse(
  JSON.parse(readFileSync(new URL('../../testing/captured/templates.json', import.meta.url), 'utf8')),
);

test.each(templates)('the template $template belongs to the family $family', ({ excerpt, family }) => {
  expect(toolFamily(excerpt).id).toBe(family);
});
