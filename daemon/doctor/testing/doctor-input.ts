import type { HardwareView } from '../../contract/hardware.ts';
import type { StatusOverviewView } from '../../contract/system.ts';
import { loadSettingsReadOnly } from '../../settings/read-only-settings.ts';
import type { SlotConfig } from '../../slots/config/slot-config.ts';
import { readSlotFile } from '../../slots/config/slot-file.ts';
import type { DoctorInput } from '../doctor-input.ts';

/** Test support: a machine without accelerators. */
export const HARDWARE: HardwareView = {
  probed_at: 0,
  host: {
    cpu: 'test',
    os: null,
    cores_physical: 4,
    cores_logical: 8,
    memory_total_bytes: 1,
    memory_available_bytes: 1,
    swap_total_bytes: null,
    swap_used_bytes: null,
    disks: null,
    networks: null,
  },
  devices: [],
  pools: [],
  containers: [],
  evidence: [],
  problems: [],
};

export const STATUS: StatusOverviewView = {
  name: 'svc-gateway',
  version: '1',
  host: 'h',
  started_at: 0,
  listener: { bind_host: '127.0.0.1', port: 1, loopback: true },
  enforcement: { require_auth: false, source: 'default' },
  has_admin_key: false,
  has_client_key: false,
  guard_remote_admin: true,
  slots: { total: 0, ready: 0, error: 0 },
  warnings: [],
};

export const slotOf = (name: string, text: string): SlotConfig =>
  readSlotFile(`${name}.toml`, text).config as SlotConfig;

/** A healthy, stopped gateway with the settings of an environment, and overrides. */
export async function factsOf(
  env: Readonly<Record<string, string>>,
  more: Partial<DoctorInput> = {},
): Promise<DoctorInput> {
  return {
    settings: await loadSettingsReadOnly({ SVC_HOME: '/nonexistent/svc', ...env }),
    user: { uid: process.getuid?.() ?? 0, name: 'svc' },
    gateway: {
      state: 'down',
      url: 'http://127.0.0.1:8080',
      version: null,
      status: null,
      hardware: null,
      modelProblems: [],
      slots: [],
    },
    holder: null,
    port: { state: 'free' },
    hardware: HARDWARE,
    slots: [],
    mountPoints: [],
    fileProblems: [],
    isRestoreIncomplete: false,
    exposureProblem: null,
    now: Date.now(),
    ...more,
  };
}
