import { asList, asObject } from '../json.ts';
import { invalidField } from '../read-body.ts';
import { type Conversation, itemPath } from './references.ts';
import type { ResponseTool } from './request-schema.ts';

/** A tool and its path in the request. */
export interface DeclaredTool {
  readonly tool: ResponseTool;
  readonly namespace: string | null;
  readonly path: string;
  /** It appears once a search has found it. */
  readonly isDeferred: boolean;
}

/**
 * Returns every declared tool: in `tools`, and in input items that add tools (Codex, for models that it
 * knows) or list the results of a tool search. Flattens namespaces.
 */
export function declaredTools({ tools, input }: Pick<Conversation, 'tools' | 'input'>): DeclaredTool[] {
  const added = input.items.flatMap((item, at) =>
    item.type === 'additional_tools' || item.type === 'tool_search_output'
      ? flatTools(item.tools, `${itemPath(input, at)}.tools`).map((each) => ({ ...each, isDeferred: false }))
      : [],
  );
  return [...flatTools(tools ?? [], 'tools'), ...added];
}

/** Returns the tools with those of namespaces. */
export function flatTools(tools: readonly ResponseTool[], path: string): DeclaredTool[] {
  return tools.flatMap((tool, at) => {
    const here = `${path}.${at}`;
    if (tool.type === 'namespace') return inNamespace(tool, here);
    return [{ tool, namespace: null, path: here, isDeferred: tool.defer_loading === true }];
  });
}

function inNamespace({ name, tools, defer_loading: deferred }: ResponseTool, path: string): DeclaredTool[] {
  if (typeof name !== 'string' || name === '') throw invalidField(`${path}.name`, 'is required');
  return asList(tools).map((each, at) => {
    const tool = asObject(each);
    const here = `${path}.tools.${at}`;
    if (typeof tool?.type !== 'string') throw invalidField(`${here}.type`, 'is required');
    const isDeferred = tool.defer_loading === true || deferred === true;
    return { tool: tool as ResponseTool, namespace: name, path: here, isDeferred };
  });
}
