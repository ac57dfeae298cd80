import { describe, expect, test } from 'vitest';
import { realTemplates } from '../testing/real-templates.ts';
import { chatRequest } from './chat-request.ts';
import { type ChatTemplate, chatTemplate } from './chat-template.ts';

const templates = realTemplates();

/** Templates that the Jinja library cannot render, and templates that require more than these two turns. */
const FAIL: Readonly<Record<string, RegExp>> = {
  'Apriel-1.6-15b-Thinker-fixed.jinja': /filter: string/,
  'ByteDance-Seed-OSS.jinja': /keys must be strings/,
  'fireworks-ai-llama-3-firefunction-v2.jinja': /undefined values/,
  'tencent-Hy3.jinja': /not a function/,
  'unsloth-Apriel-1.5.jinja': /filter: string/,
};
const FAIL_LATER: Readonly<Record<string, RegExp>> = {
  'Kimi-K2-Instruct.jinja': /not a function/,
  'Kimi-K2-Thinking.jinja': /not a function/,
  'MiniMax-M3.jinja': /no previous/,
  'openbmb-MiniCPM5-1B.jinja': /filter: min/,
};

const user = { role: 'user', content: 'What is the weather in Paris?' };
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const call = { name: 'get_weather', arguments: '{"city": "Paris-Nord"}' };
const turns = [
  user,
  { role: 'assistant', content: null, tool_calls: [{ id: 'call00001', type: 'function', function: call }] },
  { role: 'tool', tool_call_id: 'call00001', name: 'get_weather', content: 'It rains.' },
];

function prompt(template: ChatTemplate, messages: readonly object[], offered: object[] | undefined): string {
  const request = chatRequest({ messages, tools: offered });
  return template.render({
    messages: request.messages,
    tools: request.tools?.offered ?? null,
    templateArguments: request.templateArguments,
  });
}

describe.skipIf(templates === null)('templates of real models', () => {
  test.each([...(templates ?? [])])('%s', (name, source) => {
    const template = chatTemplate(source, { bos: '<s>', eos: '</s>' });
    const first = () => prompt(template, [user], tools);
    const second = () => prompt(template, turns, tools);
    const failure = FAIL[name];
    if (failure !== undefined) return expect(first).toThrow(failure);
    expect(prompt(template, [user], undefined)).toContain(user.content);
    const rendered = first();
    expect(rendered).toContain('get_weather');
    expect(rendered).toContain('city');
    expect(rendered).toContain(user.content);
    const later = FAIL_LATER[name];
    if (later !== undefined) return expect(second).toThrow(later);
    const went = second();
    expect(went, 'the arguments, as JSON is written or as the template likes it').toContain('Paris-Nord');
    expect(went, 'no JSON within JSON').not.toContain('\\"city');
    expect(went).toContain('It rains.');
    const notice = { role: 'system', content: 'A task finished.' };
    const noticed = () => prompt(template, [user, { role: 'assistant', content: 'Wait.' }, notice], tools);
    expect(noticed().indexOf(notice.content), 'a later system message').toBeGreaterThan(
      noticed().indexOf('Wait.'),
    );
  });
});
