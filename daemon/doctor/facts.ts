import type { HardwareView } from '../contract/hardware.ts';
import type { StatusOverviewView } from '../contract/system.ts';
import type { Problem } from '../settings/problem.ts';
import type { ReadOnlySettings } from '../settings/read-only-settings.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';

/** What the running gateway says of itself; null for what it did not say. */
export interface GatewayState {
  /** `up`: it answers; `down`: nothing does; `silent`: something holds the connection and gives no answer of a gateway. */
  readonly state: 'up' | 'down' | 'silent';
  readonly url: string;
  readonly version: string | null;
  /** Null without a key that opens it. */
  readonly status: StatusOverviewView | null;
  /** The machine as the gateway's own user sees it. */
  readonly hardware: HardwareView | null;
}

/** Whether the gateway could listen where its settings say. */
export type PortState =
  | { readonly state: 'free' }
  | { readonly state: 'taken'; readonly by: string | null }
  | { readonly state: 'no_address' }
  | { readonly state: 'not_permitted' }
  | { readonly state: 'unknown'; readonly reason: string };

/** Everything that the checks judge; gathered once. */
export interface DoctorInput {
  readonly settings: ReadOnlySettings;
  /** The user as whom was looked. */
  readonly user: { readonly uid: number; readonly name: string };
  readonly gateway: GatewayState;
  /** Process id of a gateway that works on the state folder. */
  readonly holder: number | null;
  readonly port: PortState;
  /** Null when the machine could not be looked at in time. */
  readonly hardware: HardwareView | null;
  readonly slots: readonly SlotConfig[];
  /** What is wrong with slot files, upstream files and companion.env. */
  readonly fileProblems: readonly Problem[];
  /** A restore was cut; no gateway starts until it is done again. */
  readonly isRestoreIncomplete: boolean;
  /** Why a start is refused because of where the gateway would listen; null when it is not. */
  readonly exposureProblem: { readonly message: string; readonly fix: string } | null;
  /** Unix milliseconds. */
  readonly now: number;
}
