import { expect, test } from 'vitest';
import { CHATML } from '../../../../models/gguf/chat-templates.ts';
import { toolFamily } from './family.ts';

/** The words by which the templates of these models are known. */
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
])('%s is of the family %s', (template, id) => {
  expect(toolFamily(template).id).toBe(id);
});
