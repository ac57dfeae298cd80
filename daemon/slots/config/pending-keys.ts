import { isDeepStrictEqual } from 'node:util';
import type { SlotConfig } from './slot-config.ts';

/** Keys of a slot file by their field, of those that an engine reads at its start only; null for all others. */
const START_KEYS: Readonly<Record<keyof SlotConfig, string | null>> = {
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
  memoryBytes: 'memory',
  speculation: 'speculation',
  draftModel: 'draft_model',
  draftTokens: 'draft_tokens',
  extraArgs: 'extra_args',
  env: 'env',
  command: 'command',
  health: 'health',
  image: 'image',
  pull: 'pull',
  port: 'port',
  url: 'url',
  keyEnv: 'key_env',
  name: null,
  enabled: null,
  auto: null,
  autoload: null,
  pinned: null,
  priority: null,
  idleUnloadS: null,
  voice: null,
  enableThinking: null,
  vision: null,
  dimensions: null,
  imageSettings: null,
  fileKeys: null,
};

/** Returns the keys of a slot file whose values differ from those with which the engine was started. */
export function pendingKeys(running: SlotConfig, file: SlotConfig): string[] {
  return Object.entries(START_KEYS).flatMap(([name, key]) => {
    const field = name as keyof SlotConfig;
    return key === null || isDeepStrictEqual(running[field], file[field]) ? [] : [key];
  });
}
