import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { GatewayEvents } from '../contract/events.ts';
import type { HardwareView } from '../contract/hardware.ts';
import type { ContainerSources } from '../hardware/containers.ts';
import { createHardware } from '../hardware/hardware.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { silentLog } from '../lib/log.ts';
import { inSlotsFolder, readSlotFolder } from '../slots/config/slot-folder.ts';
import { readUpstreamFolder } from '../upstreams/upstream-folder.ts';
import type { DoctorInput } from './doctor-input.ts';

/** Longest time of one probe of the hardware. */
const PROBE_MS = 3_500;

/**
 * Probes the hardware as this process can see it. Returns null when the probe does not finish within its
 * limits.
 */
export async function ownHardware(containers: ContainerSources): Promise<HardwareView | null> {
  const hardware = createHardware({
    log: silentLog(),
    bus: new EventBus<GatewayEvents>(),
    containers,
    limitMs: PROBE_MS,
  });
  try {
    return await hardware.probe();
  } catch {
    return null;
  } finally {
    hardware.close();
  }
}

/** What slot and upstream files hold, and what is wrong with them. */
export function readFiles(config: string): Pick<DoctorInput, 'slots' | 'fileProblems'> {
  const slots = readSlotFolder(join(config, 'slots'));
  const upstreams = readUpstreamFolder(join(config, 'upstreams'));
  const wrong = 'problem' in upstreams ? [upstreams.problem] : upstreams.problems;
  return { slots: slots.configs, fileProblems: [...slots.problems.map(inSlotsFolder), ...wrong] };
}

export function currentUser(): DoctorInput['user'] {
  const uid = process.geteuid?.() ?? 0;
  try {
    return { uid, name: userInfo().username };
  } catch {
    return { uid, name: `user ${uid}` };
  }
}
