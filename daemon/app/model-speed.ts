import type { ModelFitView, ModelSpeedView } from '../contract/catalog.ts';
import { cardBandwidth } from '../hardware/card-bandwidth.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { MemoryBandwidth } from '../hardware/memory-bandwidth.ts';
import type { BenchResults } from '../models/bench-results.ts';
import { estimateSpeed } from '../models/speed.ts';
import type { SlotModel } from '../slots/engines/engine.ts';

export interface ModelSpeedDeps {
  readonly hardware: Pick<Hardware, 'last' | 'coresPhysical'>;
  readonly bandwidth: Pick<MemoryBandwidth, 'current'>;
  readonly benchResults?: Pick<BenchResults, 'speedOf'>;
}

/**
 * Returns a function that says how fast a chat model generates where it fits: as measured there, otherwise estimated; null
 * where the bandwidth of the device is not known.
 */
export function modelSpeeds({ hardware, bandwidth, benchResults }: ModelSpeedDeps) {
  return (model: SlotModel, { pool }: Pick<ModelFitView, 'pool'>): ModelSpeedView | null => {
    if (model.type !== 'llm' || pool === null) return null;
    const measured = benchResults?.speedOf(model, pool) ?? null;
    if (measured !== null) return measured;
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
