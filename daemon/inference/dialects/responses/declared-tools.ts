import { asList, asObject } from '../json.ts';
import { invalidField } from '../read-body.ts';
import type { ResponsesBody, ResponseTool } from './request-schema.ts';

/** A tool and its path in the request. */
export interface DeclaredTool {
  readonly tool: ResponseTool;
  readonly namespace: string | null;
  readonly path: string;
}

/**
 * Returns every declared tool: in `tools`, and in input items that add tools (Codex, for models that it
 * knows) or list the results of a tool search. Flattens namespaces.
 */
export function declaredTools({ tools, input }: Pick<ResponsesBody, 'tools' | 'input'>): DeclaredTool[] {
  const added = input.flatMap((item, at) =>
    item.type === 'additional_tools' || item.type === 'tool_search_output'
      ? rowsOf(item.tools, `input.${at}.tools`)
      : [],
  );
  return [...rowsOf(tools ?? [], 'tools'), ...added];
}

function rowsOf(tools: readonly ResponseTool[], path: string): DeclaredTool[] {
  return tools.flatMap((tool, at) => {
    const here = `${path}.${at}`;
    return tool.type === 'namespace' ? inNamespace(tool, here) : [{ tool, namespace: null, path: here }];
  });
}

function inNamespace({ name, tools }: ResponseTool, path: string): DeclaredTool[] {
  if (typeof name !== 'string' || name === '') throw invalidField(`${path}.name`, 'is required');
  return asList(tools).map((each, at) => {
    const tool = asObject(each);
    const here = `${path}.tools.${at}`;
    if (typeof tool?.type !== 'string') throw invalidField(`${here}.type`, 'is required');
    return { tool: tool as ResponseTool, namespace: name, path: here };
  });
}
