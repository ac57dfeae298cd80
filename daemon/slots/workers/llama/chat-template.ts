import { Template } from '@huggingface/jinja';
import { Refusal } from '../refusal.ts';
import type { ChatMessage, ChatRequest } from './chat-request.ts';

/** Renders the prompt of a chat. Throws a 400 with the template's own words when it refuses the messages. */
export interface ChatTemplate {
  render(chat: Pick<ChatRequest, 'messages' | 'tools' | 'templateArguments'>): string;
}

export interface SpecialText {
  bos: string;
  eos: string;
}

/** For a model that has no template of its own. */
const CHATML =
  "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}" +
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}";

/** Compiles the template of a model file (null: ChatML). One that does not compile refuses every chat, never the load. */
export function chatTemplate(source: string | null, special: SpecialText): ChatTemplate {
  const render = compile(source ?? CHATML, special);
  const argumentsAsObject = wantsObjectArguments(render);
  return {
    render: ({ messages, tools, templateArguments }) =>
      render({
        messages: argumentsAsObject ? messages.map(withObjectArguments) : messages.map(withTextArguments),
        ...(tools === null ? {} : { tools }),
        ...templateArguments,
      }),
  };
}

type Render = (variables: Record<string, unknown>) => string;

function compile(source: string, special: SpecialText): Render {
  let template: Template | string;
  try {
    template = new Template(source);
  } catch (error) {
    template = said(error);
  }
  return (variables) => {
    if (typeof template === 'string') throw refused(template);
    try {
      return template.render({
        add_generation_prompt: true,
        bos_token: special.bos,
        eos_token: special.eos,
        ...variables,
      });
    } catch (error) {
      throw refused(said(error));
    }
  };
}

const said = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500);

function refused(reason: string): Refusal {
  return new Refusal('chat_template.failed', `The chat template of this model failed: ${reason}`, {
    param: 'messages',
  });
}

const PROBE = 'svc-probe-argument';

/** Templates differ: some write tool arguments out with `tojson` (an object is wanted), some paste the text. */
function wantsObjectArguments(render: Render): boolean {
  const call = { id: 'call00000', type: 'function', function: { name: 'probe', arguments: { [PROBE]: 1 } } };
  const messages = [
    { role: 'user', content: 'probe' },
    { role: 'assistant', content: '', tool_calls: [call] },
  ];
  try {
    const prompt = render({
      messages,
      tools: [{ type: 'function', function: { name: 'probe', parameters: {} } }],
    });
    return prompt.includes(`"${PROBE}"`);
  } catch {
    return false;
  }
}

function mapArguments(message: ChatMessage, change: (value: unknown) => unknown): ChatMessage {
  if (message.tool_calls === undefined) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: change(call.function.arguments) },
    })),
  };
}

const withTextArguments = (message: ChatMessage): ChatMessage =>
  mapArguments(message, (value) => (typeof value === 'string' ? value : JSON.stringify(value)));

const withObjectArguments = (message: ChatMessage): ChatMessage =>
  mapArguments(message, (value) => (typeof value === 'string' ? (jsonObject(value) ?? value) : value));

function jsonObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
