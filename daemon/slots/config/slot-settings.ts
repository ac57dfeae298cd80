import { SLOT_KEYS } from '../../contract/slot-keys.ts';
import type { SlotSettingOriginName, SlotSettingsView } from '../../contract/slots.ts';
import type { SamplingDefaults } from '../../models/sampling-defaults.ts';
import { revisionOf } from '../../settings/revision.ts';
import type { SlotConfig } from './slot-config.ts';
import type { SlotFolder } from './slot-folder.ts';

/** The model that a slot would load, and the one that a temporary swap gave it; null for none. */
export interface ChosenModel {
  readonly model: string | null;
  readonly swapped: string | null;
  /** The sampling that the file of the model recommends, by request field. */
  readonly sampling: SamplingDefaults;
}

/**
 * Every key of a slot file (docs/spec/contract.md#slot-file) and its value in the settings; of variables only
 * the names.
 */
const KEYS: Readonly<Record<string, (config: SlotConfig) => unknown>> = {
  enabled: ({ enabled }) => enabled,
  type: ({ type }) => type,
  engine: ({ engine }) => engine,
  runner: ({ runner }) => runner,
  model: ({ model }) => model,
  device: ({ device }) => device,
  context: ({ context }) => context,
  parallel: ({ parallel }) => parallel,
  batch: ({ batch }) => batch,
  cpu_moe: ({ cpuMoe }) => cpuMoe,
  n_cpu_moe: ({ nCpuMoe }) => nCpuMoe,
  memory: ({ memoryBytes }) => memoryBytes,
  speculation: ({ speculation }) => speculation,
  draft_model: ({ draftModel }) => draftModel,
  draft_tokens: ({ draftTokens }) => draftTokens,
  autoload: ({ autoload }) => autoload,
  pinned: ({ pinned }) => pinned,
  priority: ({ priority }) => priority,
  idle_unload: ({ idleUnloadS }) => idleUnloadS,
  enable_thinking: ({ enableThinking }) => enableThinking,
  'voice.voice': ({ voice }) => voice?.voice ?? null,
  'voice.speed': ({ voice }) => voice?.speed ?? null,
  'voice.response_format': ({ voice }) => voice?.response_format ?? null,
  family: ({ imageSettings }) => imageSettings?.family ?? null,
  checkpoint: ({ imageSettings }) => imageSettings?.checkpoint ?? null,
  workflow: ({ imageSettings }) => imageSettings?.workflow?.file ?? null,
  vae: ({ imageSettings }) => imageSettings?.vae ?? null,
  loras: ({ imageSettings }) => imageSettings?.loras ?? null,
  defaults: ({ imageSettings }) => imageSettings?.defaults ?? null,
  extra_args: ({ extraArgs }) => extraArgs,
  env: ({ env }) => Object.keys(env),
  command: ({ command }) => command,
  health: ({ health }) => health,
  image: ({ image }) => image,
  pull: ({ pull }) => pull,
  port: ({ port }) => port,
  url: ({ url }) => url,
  key_env: ({ keyEnv }) => keyEnv,
};

/** Keys that the gateway chooses together with the model. */
const OF_MODEL: ReadonlySet<string> = new Set(['model', 'engine']);

function originOf(
  key: string,
  value: unknown,
  config: SlotConfig,
  swapped: string | null,
): SlotSettingOriginName {
  const inFile = config.fileKeys.includes(key.split('.')[0] ?? key);
  if (key === 'model' && swapped !== null && swapped === config.model) return 'swap';
  if (inFile && (!key.startsWith('voice.') || value !== null)) return 'file';
  const chosen = !config.fileKeys.includes('model') && value !== null;
  if (config.auto && key === 'type') return 'automatic';
  return chosen && OF_MODEL.has(key) && (config.auto || key === 'model') ? 'automatic' : 'default';
}

/** Engines that use the sampling of the model file when a request names none. */
const READS_SAMPLING: ReadonlySet<string> = new Set(['embedded', 'llama-server']);

const samplingRows = (
  { type, engine }: SlotConfig,
  sampling: SamplingDefaults,
): SlotSettingsView['settings'] =>
  type !== 'llm' || !READS_SAMPLING.has(engine)
    ? []
    : Object.entries(sampling).map(([field, value]) => ({
        key: `sampling.${field}`,
        value,
        from: 'model',
        editable: false,
      }));

/**
 * Returns the current settings of a slot, each with its origin. A running engine may still have earlier ones. Texts
 * may contain secrets that a slot file holds in plain text.
 */
export function slotSettingsView(
  config: SlotConfig,
  { model, swapped, sampling }: ChosenModel,
  { files, revisions, problems }: Pick<SlotFolder, 'files' | 'revisions' | 'problems'>,
): SlotSettingsView {
  const name = `${config.name}.toml`;
  return {
    slot: config.name,
    file: files.has(config.name) ? name : null,
    revision: revisions.get(config.name) ?? revisionOf(null),
    settings: [
      ...Object.entries(KEYS).map(([key, read]) => {
        const value = read(config) ?? (key === 'model' ? model : null);
        const from = originOf(key, value, config, swapped);
        return { key, value, from, editable: Object.hasOwn(SLOT_KEYS, key) };
      }),
      ...samplingRows(config, sampling),
    ],
    problems: problems.filter(({ file }) => file === name).map(({ line, message }) => ({ line, message })),
  };
}
