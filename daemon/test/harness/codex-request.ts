import type { Tool } from 'openai/resources/responses/responses';

/** The first request of a Codex session, with one function in addition to its own tools. */
export const codexRequest = (tool: Tool) => ({
  model: 'agent',
  instructions: 'You are a coding agent.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Sandbox: read-only' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List files' }] },
  ],
  tools: [
    tool,
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
    },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '019a-session',
  text: { verbosity: 'medium' },
  client_metadata: { installation: 'x' },
});
