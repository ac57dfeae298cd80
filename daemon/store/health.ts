import type { WriteHealthState } from './write-health.ts';

export interface StoreHealth {
  status: 'ok' | 'warning' | 'failed';
  /** One line without a path, an address or a name of a user. */
  message: string;
}

/** Everything the verdict rests on. */
export interface StoreState extends WriteHealthState {
  readonly place: 'file' | 'memory';
  readonly alarm: string | null;
  readonly walBytes: number;
  readonly waiting: number;
  readonly sqlite: string;
  readonly version: number;
}

/** The log is folded back into the database at 4 MiB; this size means that something keeps it from that. */
export const WAL_ALARM_BYTES = 64 * 1024 * 1024;
/** From here on the request log waits, so that only rare rows make the file grow. */
export const WAL_LIMIT_BYTES = 256 * 1024 * 1024;

const megabytes = (bytes: number): number => Math.round(bytes / (1024 * 1024));

/** The worst that is true now, most urgent first. */
export function healthOf(state: StoreState): StoreHealth {
  if (state.place === 'memory' && state.alarm !== null) {
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
      message: `The log of the database is at ${megabytes(state.walBytes)} MiB: another program reads the database and keeps it from shrinking. Close that program.`,
    };
  }
  if (state.dropped > 0) return { status: 'warning', message: lossText(state) };
  return { status: 'ok', message: `SQLite ${state.sqlite}, schema ${state.version}.` };
}

function lossText({ dropped, waiting }: StoreState): string {
  return `${waiting} rows wait in memory, ${dropped} log rows were given up since the start.`;
}
