import type { Log } from '../lib/log.ts';
import type { SlotsOptions } from '../slots/slots.ts';
import type { BannerInfo } from './banner.ts';

/** A running gateway. */
export interface Services {
  log: Log;
  bannerInfo(): BannerInfo;
  drainMs(): number;
  /** Reads everything again; done when the settings are in force. Never rejects. */
  reload(): Promise<void>;
  /** One real look at what the gateway can't be without; for a watchdog. */
  check(): void;
  /** How it goes, in one line without names of models or addresses. */
  status(): string;
  /** Calls `listener` whenever the status may have changed. */
  onStatus(listener: () => void): void;
  /** Drains and stops everything in the reverse order of the start. */
  stop(): Promise<void>;
}

/** Other engines than the worker processes: the bench puts a model server that runs already in their place. */
export interface ServiceOverrides extends Partial<Pick<SlotsOptions, 'runner' | 'queryEngine'>> {
  /** Writes no line of the log anywhere: for a gateway within another program. */
  quiet?: boolean;
}
