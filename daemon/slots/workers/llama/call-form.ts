import { describedTool } from './tools/described-tool.ts';
import { type Tool, wholeTool } from './tools/tool-choice.ts';

/** Renders a template with these variables. Throws when the template fails. */
export type Render = (variables: Record<string, unknown>) => string;

/** How a template expects the calls of earlier turns. */
export interface CallForm {
  /** True: arguments are an object, because some templates write them one by one. False: arguments are text. */
  objects: boolean;
  /** Content of a message with calls only. */
  emptyContent: '' | null;
  /** False: the template ignores calls. */
  written: boolean;
}

const PROBE = 'svc-probe-argument';
const NAME = 'svc_probe';
const PROBE_TOOL: Tool = {
  type: 'function',
  function: {
    name: NAME,
    description: '',
    parameters: { type: 'object', properties: { [PROBE]: { type: 'string' } } },
  },
};
const FORMS: readonly CallForm[] = ([true, false] as const).flatMap((objects) =>
  (['', null] as const).map((emptyContent) => ({ objects, emptyContent, written: true })),
);

/**
 * Detects the form by rendering a call in each one. A template that refuses all of them gets text, so that
 * its own error is reported.
 */
export function callForm(render: Render): CallForm {
  const prompts = FORMS.map((form) => ({ form, prompt: renderCall(render, form) }));
  const good = prompts.find(({ prompt }) => prompt?.includes(PROBE));
  if (good !== undefined) return good.form;
  return { objects: false, emptyContent: '', written: prompts.every(({ prompt }) => prompt === null) };
}

/** Returns true when the template writes the offered tools. */
export function writesTools(render: Render): boolean {
  const prompt = tryRender(render, [], [describedTool(PROBE_TOOL)]);
  return prompt !== null && prompt !== tryRender(render, [], []);
}

/** Returns true when the template fails on a parameter without a description. */
export function wantsDescriptions(render: Render): boolean {
  const accepts = (tool: Tool): boolean => tryRender(render, [], [tool]) !== null;
  return !accepts(wholeTool(PROBE_TOOL)) && accepts(describedTool(PROBE_TOOL));
}

const [TURN, NOTICE] = ['svc-probe-turn', 'svc-probe-notice'];

/** Returns true when the template writes a system message where it is, also after other messages. */
export function takesLaterSystem(render: Render): boolean {
  const messages = [
    { role: 'assistant', content: TURN },
    { role: 'user', content: 'probe' },
    { role: 'assistant', content: 'probe' },
    { role: 'system', content: NOTICE },
  ];
  const prompt = tryRender(render, messages, []);
  return prompt?.includes(TURN) === true && prompt.lastIndexOf(NOTICE) > prompt.indexOf(TURN);
}

function renderCall(render: Render, { objects, emptyContent }: CallForm): string | null {
  const probe = { [PROBE]: 1 };
  const called = { name: NAME, arguments: objects ? probe : JSON.stringify(probe) };
  const call = { id: 'call00000', type: 'function', function: called };
  return tryRender(
    render,
    [{ role: 'assistant', content: emptyContent, tool_calls: [call] }],
    [wholeTool({ type: 'function', function: { name: NAME } })],
  );
}

function tryRender(render: Render, messages: readonly object[], tools: readonly Tool[]): string | null {
  try {
    return render({ messages: [{ role: 'user', content: 'probe' }, ...messages], tools });
  } catch {
    return null;
  }
}
