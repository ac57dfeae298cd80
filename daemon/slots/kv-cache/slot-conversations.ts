import type { SlotConversations } from '../../contract/conversation-state.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { Launch } from '../engines/engine.ts';

/** The option of llama-server that names the folder of states, and its variable. */
export const SAVE_PATH_OPTION = '--slot-save-path';
const SAVE_PATH_VARIABLE = 'LLAMA_ARG_SLOT_SAVE_PATH';

/** Returns whether the owner of a slot chose the folder of the states, so that the program saves on its own. */
export const hasOwnSavePath = (
  args: readonly string[],
  ...envs: readonly Readonly<Record<string, string>>[]
) =>
  args.some((arg) => arg.split('=')[0] === SAVE_PATH_OPTION) ||
  envs.some((env) => Object.hasOwn(env, SAVE_PATH_VARIABLE));

/** What the saved states of all slots say about one of them. */
export interface SavedStates {
  /** Where states are saved; null when they are not. */
  from(): 'memory' | 'disk' | null;
  /** Why nothing is saved anywhere, as a sentence; null when states are saved. */
  problem(): string | null;
  /** Why the engine of a slot with this model cannot restore what it saves; null when it can, or when unknown. */
  unsupported(slot: string, modelId: string): string | null;
}

/**
 * Returns whether a slot saves its conversations (docs/spec/contract.md#kv-cache); undefined for a slot without
 * conversations. `launch` is that of the running engine; null while none runs.
 */
export function slotConversations(
  config: SlotConfig,
  { launch, modelId }: { launch: Pick<Launch, 'how'> | null; modelId: string | null },
  states: SavedStates,
): SlotConversations | undefined {
  if (config.type !== 'llm') return undefined;
  const reason =
    states.problem() ?? engineReason(config, launch) ?? unsupportedReason(config, modelId, states);
  return { from: reason === null ? states.from() : null, reason };
}

function engineReason(
  { engine, runner, extraArgs, command, env }: SlotConfig,
  launch: Pick<Launch, 'how'> | null,
): string | null {
  if (engine === 'embedded') return null;
  if (engine !== 'llama-server' || runner !== 'process')
    return 'Only the embedded engine and llama-server as a program save conversations.';
  if (hasOwnSavePath([...(command ?? []), ...extraArgs], env))
    return 'The slot file names the folder of the states, so llama-server saves only what clients ask for.';
  const how = launch?.how;
  return how?.runner === 'process' && how.savesSequences !== true
    ? 'llama-server does not save conversations of a model that reads images.'
    : null;
}

const unsupportedReason = ({ engine, name }: SlotConfig, modelId: string | null, states: SavedStates) =>
  engine === 'llama-server' && modelId !== null ? states.unsupported(name, modelId) : null;
