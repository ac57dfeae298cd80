import type { WriteHealthState } from './write-health.ts';

export interface StoreHealth {
  status: 'ok' | 'warning' | 'failed';
  /** One line without paths, addresses and user names. */
  message: string;
}

/** Everything that determines the health. */
export interface StoreState extends WriteHealthState {
  readonly location: 'file' | 'memory';
  readonly alarm: string | null;
  readonly walBytes: number;
  readonly waiting: number;
  readonly sqlite: string;
  readonly version: number;
}

/** The log is checkpointed at 4 MiB. This size means that something prevents it. */
export const WAL_ALARM_BYTES = 64 * 1024 * 1024;
/** Above this size the request log is paused, so that only rare rows make the file grow. */
export const WAL_LIMIT_BYTES = 256 * 1024 * 1024;

const megabytes = (bytes: number): number => Math.round(bytes / (1024 * 1024));

/** Returns the most urgent state. */
export function healthOf(state: StoreState): StoreHealth {
  if (state.location === 'memory' && state.alarm !== null) {
    return { status: 'failed', message: state.alarm };
  }
  if (state.damaged) {
    return {
      status: 'failed',
      message: 'The database was found damaged while running. Restart: it is moved aside.',
    };
  }
  if (state.failing !== null) {
    return { status: 'failed', message: `The database fails: ${state.failing}. ${lossText(state)}` };
  }
  if (state.alarm !== null) return { status: 'warning', message: state.alarm };
  if (state.walBytes >= WAL_ALARM_BYTES) {
    return {
      status: 'warning',
      message: `The write-ahead log of the database has grown to ${megabytes(state.walBytes)} MiB, because another program keeps the database open. Close that program.`,
    };
  }
  if (state.dropped > 0) return { status: 'warning', message: lossText(state) };
  return { status: 'ok', message: `SQLite ${state.sqlite}, schema ${state.version}.` };
}

function lossText({ dropped, waiting }: StoreState): string {
  return `${waiting} rows wait in memory; ${dropped} log rows were dropped since the start.`;
}
