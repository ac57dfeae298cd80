import { typeObjection } from '../admission/launch-plan.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from '../engines/engine.ts';
import { engineOf, slotObjection } from '../engines/table.ts';

/** Writes the keys of objects in order, because the order of variables in a slot file does not matter. */
const inKeyOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/**
 * Returns a text that is equal for two slots exactly if one engine can serve both (docs/spec/contract.md#shared-engines):
 * the same file, and the same settings with all defaults filled in. Neither the name nor what applies only while a slot is
 * loaded (`pinned`, `priority`, `idle_unload`, defaults of requests) counts. Null for a slot whose engine cannot be shared:
 * it is disabled, has no file or no fitting model, or its server is run by someone else. Pure.
 */
export function engineKey(config: SlotConfig, model: SlotModel | null): string | null {
  const engine = engineOf(config.engine);
  if (!config.enabled || config.runner === 'attach' || engine === undefined) return null;
  if (model === null || model.path === null || typeObjection(config, model) !== null) return null;
  if (slotObjection(config) !== null) return null;
  // Threads, queue limit and card are chosen at each load and depend on no slot file.
  const launch = engine.plan({ config: { ...config, name: '' }, model, threads: 0, queueLimit: 0 });
  // Texts that explain the launch do not change it.
  const start = { ...launch, speculation: launch.speculation?.way, degraded: null };
  const { device, memoryBytes, cpuMoe, nCpuMoe, vision } = config;
  const { sizeBytes, projectorPath = null } = model;
  const rest = { device, memoryBytes, cpuMoe, nCpuMoe, vision, sizeBytes, projectorPath };
  return JSON.stringify([start, rest], inKeyOrder);
}
