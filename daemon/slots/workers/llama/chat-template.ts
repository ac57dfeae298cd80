import { Template } from '@huggingface/jinja';
import { Refusal } from '../refusal.ts';
import type { ChatMessage } from './chat-message.ts';
import { PLAIN_JSON, type ToolFamily, toolFamily } from './tools/family.ts';
import { withThinking } from './tools/thinking-field.ts';
import { type Tool, wholeTool } from './tools/tool-choice.ts';
import { plainMessages, toolWords, withWords } from './tools/tool-prompt.ts';

/** What a prompt is made of. */
export interface Conversation {
  messages: readonly ChatMessage[];
  /** Null when no tool is offered. */
  tools: readonly Tool[] | null;
  /** Further variables of the template. */
  templateArguments: Readonly<Record<string, unknown>>;
}

/** Renders the prompt of a chat. Throws a 400 with the template's own words when it refuses the messages. */
export interface ChatTemplate {
  /** The template's text. */
  readonly source: string;
  /** How calls are written and read; plain JSON where the model is told about tools in words of ours. */
  readonly family: ToolFamily;
  render(conversation: Conversation): string;
}

export interface SpecialText {
  bos: string;
  eos: string;
}

/** For a model that has no template of its own. */
const CHATML =
  "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}" +
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}";

/** Compiles the template of a model file (null: ChatML). One that does not compile refuses every chat. */
export function chatTemplate(own: string | null, special: SpecialText): ChatTemplate {
  const source = own ?? CHATML;
  const render = compile(source, special);
  const argumentsAsObject = wantsObjectArguments(render);
  const knowsTools = /\btools\b/.test(source);
  const known = toolFamily(source);
  const native = knowsTools || known.words !== null || known.id === 'harmony';
  const family = native ? known : PLAIN_JSON;
  const reads = /\.(description|parameters)\b/.test(source);
  const thinks = /\.thinking\b/.test(source);
  const knowsCalls = /\btool_calls\b/.test(source);
  const whole = ({ messages, tools, templateArguments }: Conversation): string =>
    render({
      messages: messages
        .map(argumentsAsObject ? withObjectArguments : withTextArguments)
        .map((message) => (thinks ? withThinking(message) : message)),
      ...(tools === null ? {} : { tools: reads ? tools.map(wholeTool) : tools }),
      ...templateArguments,
    });
  return {
    source,
    family,
    render(conversation) {
      if (knowsTools) return whole(conversation);
      const messages = knowsCalls ? conversation.messages : plainMessages(conversation.messages);
      return inWords(whole, { ...conversation, messages }, family.words ?? toolWords);
    },
  };
}

/** Tools told in words: as the system's, or in the first message where the template has no such role. */
function inWords(
  whole: (conversation: Conversation) => string,
  conversation: Conversation,
  words: (tools: readonly Tool[]) => string,
): string {
  const { tools, messages } = conversation;
  if (tools === null) return whole(conversation);
  const told = (role: 'system' | 'user') =>
    whole({ ...conversation, messages: withWords(messages, words(tools), role), tools: null });
  try {
    return told('system');
  } catch {
    return told('user');
  }
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
/** As JSON, or as a tag of its own (`<parameter=KEY>`, `<arg_key>KEY</arg_key>`). */
const PROBED = new RegExp(`["=>]${PROBE}["<>]`);

/** Templates differ: some write tool arguments out one by one (an object is wanted), some paste the text. */
function wantsObjectArguments(render: Render): boolean {
  const call = { id: 'call00000', type: 'function', function: { name: 'probe', arguments: { [PROBE]: 1 } } };
  const messages = [
    { role: 'user', content: 'probe' },
    { role: 'assistant', content: '', tool_calls: [call] },
  ];
  try {
    const prompt = render({
      messages,
      tools: [wholeTool({ type: 'function', function: { name: 'probe' } })],
    });
    return PROBED.test(prompt);
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
