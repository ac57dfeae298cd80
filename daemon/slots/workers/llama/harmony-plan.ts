import type { ChatRequest } from './chat-request.ts';
import { type ChatPlan, NO_GRAMMAR, type PlannedGrammar, plannedGrammar } from './generation-plan.ts';
import type { ToolFamily } from './tools/family.ts';
import { harmonyMessages } from './tools/harmony.ts';
import { harmonyGrammar } from './tools/harmony-grammar.ts';
import { forcedTools, parametersOf } from './tools/tool-choice.ts';

/**
 * Returns the plan for gpt-oss. Reasoning, content and calls are separate messages, so one reader parses all
 * of them. The grammar includes the message headers, so that the model can reason first. `header` is the part
 * of the first header that the prompt contains.
 */
export function harmonyPlan(request: ChatRequest, family: ToolFamily, header: string): ChatPlan {
  const { tools, splitThoughts } = request;
  const options = { raw: !splitThoughts, header };
  return {
    readOptions: {
      thoughts: null,
      calls: {
        family: { ...family, scanner: (accepts, schemaOf) => harmonyMessages(options, accepts, schemaOf) },
        tools: parametersOf(tools?.offered ?? []),
        parallel: tools?.parallel ?? true,
      },
    },
    ...grammarOf(request, header),
    gate: null,
    marks: family.marks,
  };
}

function grammarOf({ tools, structure }: ChatRequest, header: string): PlannedGrammar {
  const forced = forcedTools(tools);
  if (forced !== null)
    return plannedGrammar('tool_choice', null, (relax) => harmonyGrammar(forced, null, relax));
  if (structure === null) return NO_GRAMMAR;
  const { param, grammar, schema } = structure;
  const isPlain = schema === null || header !== '';
  return plannedGrammar(param, structure, (relax) =>
    isPlain ? grammar : harmonyGrammar(tools?.offered ?? [], structure, relax),
  );
}
