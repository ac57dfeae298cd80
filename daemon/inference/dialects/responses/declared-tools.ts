import { asList, asObject } from '../json.ts';
import { invalidField } from '../read-body.ts';
import type { ResponsesBody, ResponseTool } from './request-schema.ts';

/** A tool and where it stands in the request. */
export interface DeclaredTool {
  readonly tool: ResponseTool;
  readonly namespace: string | null;
  readonly path: string;
}

/**
 * Every tool that a request declares, wherever it stands: in `tools`, in items of the input that add some (Codex, for models
 * that it knows) or that tell what a search for tools has found. Namespaces are told as what is in them.
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
