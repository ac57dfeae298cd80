import { memoryHeadroom } from '../../app/memory-headroom.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import { createHardware, type Hardware } from '../../hardware/hardware.ts';
import { fakeMachine, type MACHINES } from '../../hardware/testing/fake-machine.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { createLog } from '../../lib/log.ts';
import { AdmissionController, type AdmissionDeps } from '../../slots/admission/controller.ts';
import { Measurements } from '../../slots/admission/measured-memory.ts';
import { NOTHING_LOADED } from '../../slots/admission/nothing-loaded.ts';
import { systemClock } from '../../slots/lifecycle/clock.ts';

const log = createLog({ level: 'fatal' });

/** Returns the probed hardware of a captured machine. `cleanups` receives the functions that remove it. */
export async function probedMachine(
  name: (typeof MACHINES)[number],
  cleanups: (() => void)[],
): Promise<Hardware> {
  const machine = fakeMachine(name);
  const hardware = createHardware({
    log,
    bus: new EventBus<GatewayEvents>(),
    root: machine.root,
    path: machine.path,
    nodeAccess: async () => 'ok',
    backends: () => ['vulkan', 'cuda'],
  });
  cleanups.push(machine.remove, hardware.close);
  await hardware.probeDevices();
  return hardware;
}

/** The admission controller of a gateway on this machine that has loaded nothing yet. */
export const admissionOn = (
  hardware: Hardware,
  overrides: Partial<AdmissionDeps> = {},
): AdmissionController =>
  new AdmissionController({
    clock: systemClock,
    measurements: new Measurements(),
    cores: 8,
    cpuThreads: () => 0,
    queueMax: () => 64,
    memoryLimit: () => 0,
    headroom: (device, needed, excluded) => memoryHeadroom(hardware, device, needed, excluded),
    ...NOTHING_LOADED,
    ...overrides,
  });
