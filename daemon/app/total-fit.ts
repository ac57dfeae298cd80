import type { ModelFitView } from '../contract/catalog.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { AdmissionController } from '../slots/admission/controller.ts';
import { KEEP_FREE_BYTES } from '../slots/admission/eviction.ts';
import { fitOf } from '../slots/admission/fit.ts';
import type { PlannedReservations } from '../slots/admission/launch-plan.ts';
import { Measurements } from '../slots/admission/measured-memory.ts';
import { NOTHING_LOADED } from '../slots/admission/nothing-loaded.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';
import type { SlotModel } from '../slots/engines/engine.ts';
import { systemClock } from '../slots/lifecycle/clock.ts';
import { memoryHeadroom } from './memory-headroom.ts';

/** The share of the total memory of a device that recommended models take together. */
const SHARE = 0.75;

export interface TotalFitDeps {
  readonly hardware: Pick<Hardware, 'last' | 'memoryTotal' | 'coresPhysical'>;
  /** Setting `memoryLimit` in bytes; 0 = none. */
  memoryLimit(): number;
  cpuThreads(): number;
  withDefaultContext(slot: SlotConfig, model: SlotModel): SlotModel;
}

/** The machine as it would be if nothing else used its memory. Admission adds the reserve that it keeps free. */
const idleMachine = ({ hardware }: TotalFitDeps) => {
  const share = (total: number) => Math.min(total, Math.floor(total * SHARE) + KEEP_FREE_BYTES);
  return {
    isRefreshing: () => false,
    memoryAvailable: () => share(hardware.memoryTotal()),
    view: () => {
      const view = hardware.last();
      return (
        view && {
          ...view,
          pools: view.pools.map((pool) => ({ ...pool, available_bytes: share(pool.total_bytes) })),
        }
      );
    },
  };
};

/**
 * Returns a function like `Slots.fit`, which decides by three quarters of the total memory of a device instead of what is
 * free now, so that two runs of setup give the same answer (docs/spec/contract.md#setup-choices).
 */
export function totalFit(deps: TotalFitDeps) {
  const machine = idleMachine(deps);
  const admission = new AdmissionController({
    clock: systemClock,
    measurements: new Measurements(),
    cores: deps.hardware.coresPhysical(),
    cpuThreads: () => deps.cpuThreads(),
    queueMax: () => 1,
    memoryLimit: () => deps.memoryLimit(),
    headroom: (device, needed, planned) => memoryHeadroom(machine, device, needed, planned),
    ...NOTHING_LOADED,
  });
  return (model: SlotModel, planned?: PlannedReservations): ModelFitView =>
    fitOf(model, (config, wanted) =>
      admission.forecast(config, deps.withDefaultContext(config, wanted), null, planned),
    );
}
