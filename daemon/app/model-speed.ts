import type { ModelFitView, ModelSpeedView } from '../contract/catalog.ts';
import { cardBandwidth } from '../hardware/card-bandwidth.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { MemoryBandwidth } from '../hardware/memory-bandwidth.ts';
import { estimateSpeed } from '../models/speed.ts';
import type { SlotModel } from '../slots/engines/engine.ts';

export interface ModelSpeedDeps {
  readonly hardware: Pick<Hardware, 'last' | 'coresPhysical'>;
  readonly bandwidth: Pick<MemoryBandwidth, 'current'>;
}

/**
 * Returns a function that estimates how fast a chat model would generate where it fits; null where the bandwidth of the
 * device is not known.
 */
export function modelSpeeds({ hardware, bandwidth }: ModelSpeedDeps) {
  return (model: SlotModel, { pool }: Pick<ModelFitView, 'pool'>): ModelSpeedView | null => {
    if (model.type !== 'llm' || pool === null) return null;
    const view = hardware.last();
    const kind = view?.pools.find(({ id }) => id === pool)?.kind ?? 'host';
    const cards = view?.devices.filter((device) => device.kind === 'gpu' && device.pool === pool) ?? [];
    const onCard =
      kind === 'host' ? null : (cards.map(({ name }) => cardBandwidth(name)).find(Boolean) ?? null);
    const ownBandwidth = kind === 'device' ? onCard : (onCard ?? bandwidth.current());
    if (ownBandwidth === null) return null;
    const cores = kind === 'host' ? hardware.coresPhysical() : null;
    return estimateSpeed({
      activeBytes: model.activeBytes ?? model.sizeBytes,
      bandwidth: ownBandwidth,
      cores,
    });
  };
}
