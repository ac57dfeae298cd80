import type { V1ModelRecord } from '../contract/models.ts';

/** One model in the form of Anthropic's API. What a gateway cannot know is null. */
export interface AnthropicModel {
  readonly type: 'model';
  readonly id: string;
  readonly display_name: string;
  /** RFC 3339. */
  readonly created_at: string;
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  readonly capabilities: null;
  readonly lifecycle: 'active';
  readonly deprecated_at: null;
  readonly line: null;
}

export interface AnthropicModelList {
  readonly data: readonly AnthropicModel[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** The page that a caller requests: models after or before an id. */
export interface ModelPage {
  readonly limit: number;
  readonly afterId: string | null;
  readonly beforeId: string | null;
}

/** The Messages and Responses APIs are chats; other models would only fail there. */
const chats = (records: readonly V1ModelRecord[]): V1ModelRecord[] =>
  records.filter(({ capabilities }) => capabilities.chat === true);

export const anthropicModel = ({ id, name, created, context_length }: V1ModelRecord): AnthropicModel => ({
  type: 'model',
  id,
  display_name: name,
  created_at: new Date(created * 1000).toISOString(),
  max_input_tokens: context_length ?? null,
  max_tokens: null,
  capabilities: null,
  lifecycle: 'active',
  deprecated_at: null,
  line: null,
});

/**
 * Returns one page of chat models in the form of Anthropic's list. An id that is not listed gives an empty page,
 * so that a client that follows it ends.
 */
export function anthropicModelList(records: readonly V1ModelRecord[], page: ModelPage): AnthropicModelList {
  const all = chats(records);
  const [from, to] = bounds(
    all.map(({ id }) => id),
    page,
  );
  const data = all.slice(from, to).map(anthropicModel);
  return {
    data,
    has_more: page.beforeId === null ? to < all.length : from > 0,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function bounds(ids: readonly string[], { limit, afterId, beforeId }: ModelPage): [number, number] {
  if (beforeId !== null) {
    const end = Math.max(0, ids.indexOf(beforeId));
    return [Math.max(0, end - limit), end];
  }
  const at = afterId === null ? 0 : ids.indexOf(afterId) + 1;
  const start = afterId !== null && at === 0 ? ids.length : at;
  return [start, Math.min(ids.length, start + limit)];
}

/**
 * Codex replaces its own instructions by those of a listed model. Short, because a local window is small and
 * each tool describes itself.
 */
const CODEX_INSTRUCTIONS = `You are a coding agent. You work in the user's project, on the user's machine, with the tools of this request.

- Read the files that matter before you change them. Follow the style that you find, and the rules of AGENTS.md files.
- Make the smallest change that solves the task. Do not change unrelated code, and do not commit unless the user requests it.
- Run commands and edit files with the tools. Never claim to have run a command that you did not run.
- When a command fails, read its output, find the cause and try again. Verify your work with the project's own tests or build where they exist.
- Continue until the task is solved. Stop for input only when a decision is the user's.
- End with a short summary: what you changed, in which files, and what you could not verify.`;

/** Codex's metadata of one model, with what it assumes of an unknown model except for name and window. */
function codexModel(record: V1ModelRecord, priority: number): Record<string, unknown> {
  const { id, name, context_length, architecture } = record;
  return {
    slug: id,
    display_name: name,
    description: null,
    supported_reasoning_levels: [],
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    upgrade: null,
    base_instructions: CODEX_INSTRUCTIONS,
    supports_reasoning_summaries: false,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: false,
    context_window: context_length ?? null,
    experimental_supported_tools: [],
    input_modalities: architecture.input_modalities,
  };
}

/** Returns the chat models in the form of Codex's catalogue, in the order of the list. */
export const codexModels = (records: readonly V1ModelRecord[]): Record<string, unknown>[] =>
  chats(records).map(codexModel);
