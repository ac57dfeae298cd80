import type { ChatRequest } from './chat-request.ts';
import type { ChatPlan } from './generation-plan.ts';
import { harmonyPlan } from './harmony-plan.ts';
import { openThinkingMark, THINKING_TOKENS, type ThinkingMark } from './reasoning.ts';
import type { Generation } from './request.ts';
import { PLAIN_JSON, type ToolFamily } from './tools/family.ts';
import { openedHeader } from './tools/harmony.ts';
import { forcedTools, parametersOf } from './tools/tool-choice.ts';
import { toolGrammar } from './tools/tool-grammar.ts';

/**
 * Plans the answer to `request` for a model of `family`, given its rendered `prompt`. A required call, and
 * any call next to a structured output, is written as plain JSON, because a grammar can enforce only that.
 * gpt-oss keeps its own format.
 */
export function chatPlan(request: ChatRequest, family: ToolFamily, prompt: string): ChatPlan {
  const { tools } = request;
  if (family.id === 'harmony') {
    const header = openedHeader(prompt);
    if (header === '' || forcedTools(tools) === null) return harmonyPlan(request, family, header);
  }
  const opened = openThinkingMark(prompt);
  const grammar = chatGrammar(request, family);
  const spoken = tools !== null && grammar !== null ? { ...PLAIN_JSON, id9: family.id9 } : family;
  return {
    readOptions: {
      thoughts: request.splitThoughts ? { opened } : null,
      calls:
        tools === null
          ? null
          : { family: spoken, tools: parametersOf(tools.offered), parallel: tools.parallel },
    },
    grammar,
    gate: grammar === null ? null : closing(opened),
    marks: [...THINKING_TOKENS, ...(tools === null ? [] : spoken.marks)],
  };
}

const closing = (opened: ThinkingMark | null): string | null => opened?.close ?? null;

function chatGrammar({ tools, structure }: ChatRequest, family: ToolFamily): Generation['grammar'] {
  const forced = forcedTools(tools);
  const form = { argumentsKey: family.argumentsKey, several: false };
  if (forced !== null)
    return {
      text: toolGrammar(forced, { ...form, several: tools?.parallel ?? false }),
      param: 'tool_choice',
    };
  if (structure === null) return null;
  if (tools === null) return { text: structure.grammar, param: structure.param };
  return { text: toolGrammar(tools.offered, form, structure), param: structure.param };
}
