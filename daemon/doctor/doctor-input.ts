import type { HardwareView } from '../contract/hardware.ts';
import type { ModelProblemView } from '../contract/models.ts';
import type { SlotRecord } from '../contract/slots.ts';
import type { StatusOverviewView } from '../contract/system.ts';
import type { Problem } from '../settings/problem.ts';
import type { ReadOnlySettings } from '../settings/read-only-settings.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';

/** What the running gateway reports; null for what is unknown. */
export interface GatewayState {
  /**
   * `up`: it responds; `down`: nothing does; `silent`: something accepts the connection but does not respond
   * as a gateway.
   */
  readonly state: 'up' | 'down' | 'silent';
  readonly url: string;
  readonly version: string | null;
  /** Null without a key that opens it. */
  readonly status: StatusOverviewView | null;
  /** The hardware as the user of the gateway sees it. */
  readonly hardware: HardwareView | null;
  /** Files in the model folders that cannot be used. Empty when unknown. */
  readonly modelProblems: readonly ModelProblemView[];
  /** Empty when unknown. */
  readonly slots: readonly SlotRecord[];
}

/** Whether the gateway could listen on its configured address. */
export type PortState =
  | { readonly state: 'free' }
  | { readonly state: 'taken'; readonly by: string | null }
  | { readonly state: 'no_address' }
  | { readonly state: 'not_permitted' }
  | { readonly state: 'unknown'; readonly reason: string };

/** Input of all checks, gathered once. */
export interface DoctorInput {
  readonly settings: ReadOnlySettings;
  /** The user that runs the checks. */
  readonly user: { readonly uid: number; readonly name: string };
  readonly gateway: GatewayState;
  /** Process id of a gateway that works on the state folder. */
  readonly holder: number | null;
  readonly port: PortState;
  /** Null when the probe timed out. */
  readonly hardware: HardwareView | null;
  readonly slots: readonly SlotConfig[];
  /** The mount points of this machine, as this process sees them. */
  readonly mountPoints: readonly string[];
  /** What is wrong with slot files, upstream files and companion.env. */
  readonly fileProblems: readonly Problem[];
  /** An interrupted restore. The gateway does not start until it is repeated. */
  readonly isRestoreIncomplete: boolean;
  /** Why the start is refused because of the listen address, or null. */
  readonly exposureProblem: { readonly message: string; readonly fix: string } | null;
  /** Unix milliseconds. */
  readonly now: number;
}
