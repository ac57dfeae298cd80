import { memoryHeadroom } from '../../app/memory-headroom.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import { createHardware, type Hardware } from '../../hardware/hardware.ts';
import { fakeMachine, type MACHINES } from '../../hardware/testing/fake-machine.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { createLog } from '../../lib/log.ts';
import { AdmissionController, type AdmissionDeps } from '../../slots/admission/controller.ts';
import { Measurements } from '../../slots/admission/measured-memory.ts';
import { systemClock } from '../../slots/lifecycle/clock.ts';

const log = createLog({ level: 'fatal' });

/** The hardware that is found on a captured machine, probed; `ends` gets what takes it away again. */
export async function probedMachine(
  name: (typeof MACHINES)[number],
  ends: (() => void)[],
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
  ends.push(machine.remove, hardware.close);
  await hardware.probe();
  return hardware;
}

/** The admission of a gateway on this machine that holds nothing yet. */
export const admissionOn = (hardware: Hardware, over: Partial<AdmissionDeps> = {}): AdmissionController =>
  new AdmissionController({
    clock: systemClock,
    measurements: new Measurements(),
    cores: 8,
    cpuThreads: () => 0,
    queueMax: () => 64,
    memoryLimit: () => 0,
    headroom: (device, needed, beside) => memoryHeadroom(hardware, device, needed, beside),
    model: () => null,
    memoryUses: () => [],
    memoryOf: () => null,
    familyMemoryOf: () => null,
    cardMemoryOf: async () => null,
    rereadCards: () => false,
    evict: () => {},
    isAlreadyRunning: () => false,
    retry: () => {},
    ...over,
  });
