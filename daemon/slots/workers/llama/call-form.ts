import { describedTool } from './tools/described-tool.ts';
import { type Tool, wholeTool } from './tools/tool-choice.ts';

/** Renders a template with these variables; throws when it can't. */
export type Render = (variables: Record<string, unknown>) => string;

/** How a template wants the calls of earlier turns. */
export interface CallForm {
  /** True: arguments as an object. Some templates write them out one by one, some paste the text. */
  objects: boolean;
  /** What stands for the words of a message that only calls. */
  emptyContent: '' | null;
  /** False: the template passes over calls. */
  written: boolean;
}

const PROBE = 'svc-probe-argument';
/** As JSON, or as a tag of its own (`<parameter=KEY>`, `<arg_key>KEY</arg_key>`). */
const AS_OBJECT = new RegExp(`["=>]${PROBE}["<>]`);
const NAME = 'svc_probe';
const FORMS: readonly CallForm[] = ([true, false] as const).flatMap((objects) =>
  (['', null] as const).map((emptyContent) => ({ objects, emptyContent, written: true })),
);

/** Finds the form out by writing a call in each. A template that refuses them all gets text, which says why where it matters. */
export function callForm(render: Render): CallForm {
  const prompts = FORMS.map((form) => ({ form, prompt: tried(render, form) }));
  const good = prompts.find(
    ({ form, prompt }) => prompt !== null && (form.objects ? AS_OBJECT.test(prompt) : prompt.includes(PROBE)),
  );
  if (good !== undefined) return good.form;
  return { objects: false, emptyContent: '', written: prompts.every(({ prompt }) => prompt === null) };
}

/** Whether a template fails over a parameter without a description. */
export function wantsDescriptions(render: Render): boolean {
  const parameters = { type: 'object', properties: { [PROBE]: { type: 'string' } } };
  const probe: Tool = { type: 'function', function: { name: NAME, description: '', parameters } };
  const takes = (tool: Tool): boolean => tryRender(render, [], [tool]) !== null;
  return !takes(wholeTool(probe)) && takes(describedTool(probe));
}

function tried(render: Render, { objects, emptyContent }: CallForm): string | null {
  const given = { [PROBE]: 1 };
  const called = { name: NAME, arguments: objects ? given : JSON.stringify(given) };
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
