import type { ChatPlan } from './chat-plan.ts';
import type { ChatRequest } from './chat-request.ts';
import type { Generation } from './request.ts';
import type { ToolFamily } from './tools/family.ts';
import { harmonyMessages } from './tools/harmony.ts';
import { harmonyGrammar } from './tools/harmony-grammar.ts';
import { forcedTools, parametersOf } from './tools/tool-choice.ts';

/**
 * The plan for gpt-oss: thoughts, words and calls are messages of their own, so one reader finds them all, and a grammar
 * knows their headers, so that the model may think first. `header` is what the prompt has written of the first one.
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
    grammar: grammarOf(request, header),
    gate: null,
    marks: family.marks,
  };
}

function grammarOf({ tools, structure }: ChatRequest, header: string): Generation['grammar'] {
  const forced = forcedTools(tools);
  if (forced !== null) return { text: harmonyGrammar(forced), param: 'tool_choice' };
  if (structure === null) return null;
  const { param, grammar, schema } = structure;
  const bare = schema === null || header !== '';
  return { text: bare ? grammar : harmonyGrammar(tools?.offered ?? [], structure), param };
}
