import type { SlotConfig } from './slot-config.ts';

/** Keys of a slot file by their field, of those that an engine reads at its start only. */
const START_KEYS = {
  type: 'type',
  engine: 'engine',
  runner: 'runner',
  model: 'model',
  device: 'device',
  context: 'context',
  parallel: 'parallel',
  batch: 'batch',
  cpuMoe: 'cpu_moe',
  nCpuMoe: 'n_cpu_moe',
  speculation: 'speculation',
  draftModel: 'draft_model',
  draftTokens: 'draft_tokens',
  extraArgs: 'extra_args',
  env: 'env',
  command: 'command',
  health: 'health',
  image: 'image',
  port: 'port',
  url: 'url',
  keyEnv: 'key_env',
} as const satisfies Partial<Record<keyof SlotConfig, string>>;

/** Returns the keys of a slot file whose values differ from those with which the engine was started. */
export function pendingKeys(running: SlotConfig, file: SlotConfig): string[] {
  return Object.entries(START_KEYS).flatMap(([field, key]) => {
    const [now, next] = [running, file].map((config) => JSON.stringify(config[field as keyof SlotConfig]));
    return now === next ? [] : [key];
  });
}
