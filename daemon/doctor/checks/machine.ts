import { readFileSync } from 'node:fs';
import type { DeviceRecord } from '../../contract/hardware.ts';
import { UNUSED_BY_DESIGN } from '../../hardware/unused-reason.ts';
import { plural } from '../../lib/text/plural.ts';
import { threadBudget } from '../../slots/admission/threads.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

/** The groups that own device nodes of accelerators. */
const GROUPS = ['render', 'video'] as const;

/** `The reason: the fix.` of a device, in its two parts. */
function splitReason(reason: string): [reason: string, fix: string] {
  const at = reason.indexOf(': ');
  return at === -1 ? [reason, 'See svcctl hardware.'] : [`${reason.slice(0, at)}.`, reason.slice(at + 2)];
}

function device({ id, name, access, driver, unused_reason }: DeviceRecord): Finding {
  const shown = `${name} (${id})`;
  if (unused_reason === null && access === 'ok')
    return ok('device', `${shown} can be used, driver ${driver}.`);
  if (unused_reason === null) {
    return warn('device', `${shown}: it is unknown whether it can be used.`, 'See svcctl hardware.');
  }
  if (UNUSED_BY_DESIGN.has(unused_reason)) return ok('device', `${shown}: ${unused_reason}`);
  const [reason, fix] = splitReason(unused_reason);
  return warn('device', `${shown} is not used. ${reason}`, fix);
}

/** Accelerators, each with its driver, and why one that was found is not used. */
export function devices({ hardware }: DoctorInput): Finding[] {
  if (hardware === null) {
    return [warn('device', 'The hardware probe did not finish in time.', 'svcctl hardware probe')];
  }
  const found = hardware.devices.filter(({ kind }) => kind !== 'cpu').map(device);
  const problems = hardware.problems.map(({ probe, reason }) =>
    warn('device', `The probe ${probe} failed: ${reason}.`, `Run ${probe} to see why.`),
  );
  const none = ok('device', 'No GPU or NPU was found; models run on the CPU.');
  return found.length === 0 ? [none, ...problems] : [...found, ...problems];
}

/** Ids of the groups by name, from the text of `/etc/group`. */
export function groupIds(text: string): Map<string, number> {
  const rows = text.split('\n').map((line) => line.split(':'));
  return new Map(
    rows.flatMap(([name, , id]) => (name && id && /^\d+$/.test(id) ? [[name, Number(id)]] : [])),
  );
}

function knownGroups(): Map<string, number> {
  try {
    return groupIds(readFileSync('/etc/group', 'utf8'));
  } catch {
    return new Map();
  }
}

/** Membership in the groups of device nodes; it matters only where there is such a device. */
export function groups({ hardware, user }: DoctorInput): Finding[] {
  const present = hardware?.devices.some(({ kind }) => kind !== 'cpu') ?? false;
  if (!present) return [ok('groups', 'No device on this machine needs the groups render and video.')];
  if (user.uid === 0) return [ok('groups', 'root needs no group for devices.')];
  const known = knownGroups();
  const own = new Set(process.getgroups?.() ?? []);
  const lacking = GROUPS.filter((name) => known.has(name) && !own.has(known.get(name) ?? -1));
  if (lacking.length === 0) return [ok('groups', `${user.name} is in the groups of the devices.`)];
  const fix = `sudo usermod -aG ${lacking.join(',')} ${user.name}, then start the gateway again.`;
  return [warn('groups', `${user.name} is not in group ${lacking.join(' and ')}.`, fix)];
}

/** Container engines. An unusable one matters only when a slot needs it. */
export function containers({ hardware, slots }: DoctorInput): Finding[] {
  const containerSlots = slots.filter(({ enabled, runner }) => enabled && runner === 'container');
  const found = hardware?.containers ?? [];
  const good = found.find(({ access }) => access === 'ok');
  if (good !== undefined) {
    const how = good.rootless === true ? ' (rootless)' : '';
    return [ok('containers', `${good.kind} ${good.version ?? ''}${how} answers on ${good.socket}.`)];
  }
  const hint = found.find((one) => one.hint !== null)?.hint;
  if (containerSlots.length === 0)
    return [ok('containers', 'No container engine found, and no slot needs one.')];
  const names = containerSlots.map(({ name }) => name).join(', ');
  const fix = hint ?? 'sudo apt install podman && sudo systemctl enable --now podman.socket';
  return [fail('containers', `No container engine can be used; needed by slot ${names}.`, fix)];
}

/** Threads of all CPU slots together: one too many costs far more than one too few. */
export function threads({ settings, hardware }: DoctorInput): Finding[] {
  const cores = hardware?.host.cores_physical ?? 1;
  const setting = settings.value('cpuThreads');
  const budget = threadBudget(setting, cores);
  if (hardware !== null && budget > cores) {
    const message = `CPU slots may take ${plural(budget, 'thread')} on ${plural(cores, 'physical core')}: far slower than fewer.`;
    return [warn('threads', message, 'Remove SVC_CPU_THREADS or [slots] cpu_threads.')];
  }
  return [ok('threads', `CPU slots share ${plural(budget, 'thread')} of ${plural(cores, 'physical core')}.`)];
}
