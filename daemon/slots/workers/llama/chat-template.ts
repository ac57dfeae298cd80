import { type ChatFormat, chatFormat } from '../../../models/chat-format.ts';
import { withReminders } from '../../later-system.ts';
import { Refusal } from '../refusal.ts';
import { callForm, type Render, takesLaterSystem, wantsDescriptions, writesTools } from './call-form.ts';
import type { ChatMessage } from './chat-message.ts';
import { RenderTimeout, Template } from './jinja.ts';
import { templateLimits, withinLimits } from './template-limits.ts';
import { describedTool } from './tools/described-tool.ts';
import { PLAIN_JSON, type ToolFamily, toolFamily } from './tools/family.ts';
import { withThinking } from './tools/thinking-field.ts';
import { type Tool, wholeTool } from './tools/tool-choice.ts';
import { callsAsText, plainMessages, toolInstructions, withInstructions } from './tools/tool-prompt.ts';

/** The input of a prompt. */
export interface Conversation {
  messages: readonly ChatMessage[];
  /** Null when no tool is offered. */
  tools: readonly Tool[] | null;
  /** Additional template variables. */
  templateArguments: Readonly<Record<string, unknown>>;
}

/**
 * Renders the prompt of a chat. Throws a 400 with the template's own message when it refuses the messages, and
 * {@link RenderTimeout} within a time limit.
 */
export interface ChatTemplate {
  /** The template source. */
  readonly source: string;
  /** How calls are written and read. Plain JSON when the tools are described in our own text. */
  readonly family: ToolFamily;
  /** Texts that end an answer in addition to the model's own end tokens. */
  readonly ends: readonly string[];
  render(conversation: Conversation): string;
}

export interface SpecialText {
  bos: string;
  eos: string;
}

/** The templates of a model file, and what they need. */
export interface TemplateFiles {
  /** The template of the file; null without one. */
  readonly own: string | null;
  /** A second template for chats with tools; null without one. */
  readonly tools: string | null;
  readonly special: SpecialText;
  /** Replaces a missing `own`. */
  readonly format?: ChatFormat;
}

/**
 * Compiles the template of a model file; null stands for that of `format`. A template that does not compile refuses
 * every chat.
 */
export function chatTemplate(
  own: string | null,
  special: SpecialText,
  format: ChatFormat = chatFormat(null),
): ChatTemplate {
  const source = own ?? format.source;
  const render = compile(source, special);
  const form = callForm(render);
  const knowsTools = writesTools(render);
  const limits = templateLimits(render, form);
  const known = toolFamily(source);
  const native = knowsTools || known.toolInstructions !== null || known.id === 'harmony';
  const family = native ? known : PLAIN_JSON;
  const complete = /(\.|\[["'])(description|parameters)\b/.test(source) ? wholeTool : asItIs;
  const offered = wantsDescriptions(render) ? describedTool : complete;
  const placed = takesLaterSystem(render) ? unchanged : remindersOf;
  const thinks = /\.thinking\b/.test(source);
  const knowsCalls = /\btool_calls\b/.test(source) && form.written;
  const written = ({ messages, tools, templateArguments }: Conversation): string =>
    render({
      messages: withinLimits(placed(messages), limits)
        .map(form.objects ? withObjectArguments : withTextArguments)
        .map((message) => (thinks ? withThinking(message) : message))
        .map((message) => (form.emptyContent === null ? withoutWords(message) : message)),
      ...(tools === null ? {} : { tools: tools.map(offered) }),
      ...templateArguments,
    });
  const whole = (conversation: Conversation): string =>
    conversation.tools === null
      ? either(
          () => written(conversation),
          () => written({ ...conversation, tools: [] }),
        )
      : written(conversation);
  return {
    source,
    family,
    ends: own === null ? format.ends : [],
    render(conversation) {
      const { messages: source } = conversation;
      if (knowsTools)
        return whole(knowsCalls ? conversation : { ...conversation, messages: callsAsText(source) });
      const messages = knowsCalls ? source : plainMessages(source);
      return withToolInstructions(
        whole,
        { ...conversation, messages },
        family.toolInstructions ?? toolInstructions,
      );
    },
  };
}

/** Combines the templates of a model file: `tools` for chats with tools, `own` for all others. */
export function chatTemplates({ own: ownSource, tools, special, format }: TemplateFiles): ChatTemplate {
  const own = chatTemplate(ownSource, special, format);
  if (tools === null) return own;
  const withTools = chatTemplate(tools, special);
  return {
    source: own.source,
    family: withTools.family,
    ends: own.ends,
    render: (conversation) => (conversation.tools === null ? own : withTools).render(conversation),
  };
}

/** Describes the tools in text in the system message. */
function withToolInstructions(
  whole: (conversation: Conversation) => string,
  conversation: Conversation,
  words: (tools: readonly Tool[]) => string,
): string {
  const { tools, messages } = conversation;
  if (tools === null) return whole(conversation);
  return whole({ ...conversation, messages: withInstructions(messages, words(tools)), tools: null });
}

function compile(source: string, special: SpecialText): Render {
  let template: Template | string;
  try {
    template = new Template(source);
  } catch (error) {
    template = messageOf(error);
  }
  const readsFunctions = /\bfunctions\b/.test(source) && !/\btools\b/.test(source);
  return (variables) => {
    if (typeof template === 'string') throw refused(template);
    try {
      return template.render({
        add_generation_prompt: true,
        bos_token: special.bos,
        eos_token: special.eos,
        ...(readsFunctions ? functionVariables(variables.tools) : {}),
        ...variables,
      });
    } catch (error) {
      throw error instanceof RenderTimeout ? error : refused(messageOf(error));
    }
  };
}

/**
 * The variables of FireFunction's template. The date has no time, because it precedes the messages and a new one
 * invalidates the prompt cache.
 */
const functionVariables = (tools: unknown): Record<string, string> => ({
  functions: JSON.stringify(Array.isArray(tools) ? tools.map((tool: Tool) => tool.function) : [], null, 4),
  datetime: new Date().toDateString(),
});

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500);

/** Returns the 400 of a template that cannot render a chat. */
export function refused(reason: string): Refusal {
  return new Refusal('chat_template.failed', `The chat template of this model failed: ${reason}`, {
    param: 'messages',
  });
}

const unchanged = (messages: readonly ChatMessage[]): readonly ChatMessage[] => messages;
const remindersOf = (messages: readonly ChatMessage[]): readonly ChatMessage[] =>
  withReminders(messages).flatMap((message) => message ?? []);

const asItIs = (tool: Tool): Tool => tool;

/**
 * Returns the result of `second` when `first` throws: some templates require a tool list even without tools.
 * When both throw, throws the error of `first`.
 */
function either(first: () => string, second: () => string): string {
  try {
    return first();
  } catch (error) {
    if (error instanceof RenderTimeout) throw error;
    try {
      return second();
    } catch {
      throw error;
    }
  }
}

/** Omits the content of a message that only holds calls. */
const withoutWords = (message: ChatMessage): object =>
  message.tool_calls !== undefined && message.content === '' ? { ...message, content: null } : message;

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
