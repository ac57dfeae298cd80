import type { Log } from '../lib/log.ts';
import type { SlotsOptions } from '../slots/slots.ts';
import type { BannerInfo } from './banner.ts';

/** A running gateway. */
export interface Services {
  log: Log;
  bannerInfo(): BannerInfo;
  /** Returns the milliseconds after which a stop that has not completed is cut. */
  stopLimitMs(): number;
  /** Reloads all configuration. Resolves when the settings are in force. Never rejects. */
  reload(): Promise<void>;
  /** Checks what the gateway depends on. For the watchdog. */
  check(): void;
  /** Returns the status in one line, without names of models or addresses. */
  status(): string;
  /** Calls `listener` whenever the status may have changed. */
  onStatus(listener: () => void): void;
  /** Drains and stops everything in the reverse order of the start. */
  stop(): Promise<void>;
}

/** Replaces the worker processes by other engines. The bench uses a model server that is already running. */
export interface ServiceOverrides extends Partial<Pick<SlotsOptions, 'runner' | 'queryEngine'>> {
  /** Disables the log output, for a gateway inside another program. */
  quiet?: boolean;
}
