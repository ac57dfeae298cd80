import type { ChatPrompt } from './chat-prompt.ts';
import type { ChatRequest } from './chat-request.ts';
import { type ChatPlan, NO_GRAMMAR, type PlannedGrammar, plannedGrammar } from './generation-plan.ts';
import { harmonyPlan } from './harmony-plan.ts';
import { openThinkingMark, THINKING_TOKENS, type ThinkingMark } from './reasoning.ts';
import { PLAIN_JSON, type ToolFamily } from './tools/family.ts';
import { openedHeader } from './tools/harmony.ts';
import { forcedTools, parametersOf } from './tools/tool-choice.ts';
import { toolGrammar } from './tools/tool-grammar.ts';

/**
 * Plans the answer to `request` for a model of `family`, given its prompt. A required call, and
 * any call next to a structured output, is written as plain JSON, because a grammar can enforce only that.
 * gpt-oss keeps its own format.
 */
export function chatPlan(request: ChatRequest, family: ToolFamily, { head, text }: ChatPrompt): ChatPlan {
  const { tools } = request;
  if (family.id === 'harmony') {
    const header = openedHeader(head);
    if (header === '' || forcedTools(tools) === null) return harmonyPlan(request, family, header);
  }
  const opened = openThinkingMark(text);
  const planned = chatGrammar(request, family);
  const { grammar } = planned;
  const spoken = tools !== null && grammar !== null ? { ...PLAIN_JSON, id9: family.id9 } : family;
  return {
    readOptions: {
      thoughts: request.splitThoughts ? { opened } : null,
      calls:
        tools === null
          ? null
          : { family: spoken, tools: parametersOf(tools.offered), parallel: tools.parallel },
    },
    ...planned,
    gate: grammar === null ? null : closing(opened),
    marks: [...THINKING_TOKENS, ...(tools === null ? [] : spoken.marks)],
  };
}

const closing = (opened: ThinkingMark | null): string | null => opened?.close ?? null;

function chatGrammar({ tools, structure }: ChatRequest, family: ToolFamily): PlannedGrammar {
  const forced = forcedTools(tools);
  const form = { argumentsKey: family.argumentsKey, several: false };
  if (forced !== null) {
    const several = tools?.parallel ?? false;
    return plannedGrammar('tool_choice', null, (relax) =>
      toolGrammar(forced, { ...form, several }, null, relax),
    );
  }
  if (structure === null) return NO_GRAMMAR;
  return plannedGrammar(structure.param, structure, (relax) =>
    tools === null ? structure.grammar : toolGrammar(tools.offered, form, structure, relax),
  );
}
