import type { GatewayEvents } from '../contract/events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { type DeviceTotals, defaultWindow } from '../slots/admission/default-window.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';
import { memoryDevice } from '../slots/engines/common.ts';
import type { SlotModel } from '../slots/engines/engine.ts';
import { deviceTotals } from './memory-headroom.ts';

export interface DefaultContextDeps {
  readonly hardware: Pick<Hardware, 'last' | 'memoryTotal'>;
  readonly bus: Pick<EventBus<GatewayEvents>, 'subscribe'>;
  /** Setting `memoryLimit` in bytes; 0 = none. */
  memoryLimit(): number;
}

/**
 * Returns a function that adds the default window to the model of a chat slot whose file names none
 * (docs/spec/contract.md#default-context). The totals of the devices are read once after each hardware probe.
 */
export function defaultContexts({ hardware, bus, memoryLimit }: DefaultContextDeps) {
  const totals = new Map<string, DeviceTotals>();
  bus.subscribe(({ name }) => {
    if (name === 'hardware' || name === 'config') totals.clear();
  });
  const totalsOf = (device: string): DeviceTotals => {
    const known = totals.get(device) ?? deviceTotals(hardware, device, memoryLimit());
    totals.set(device, known);
    return known;
  };
  return <M extends SlotModel | null>(slot: SlotConfig, model: M): M =>
    model === null || slot.type !== 'llm' || slot.context !== null
      ? model
      : { ...model, defaultContext: defaultWindow(model, slot, totalsOf(memoryDevice(slot))) };
}
