import type { FaultPicture } from './write-health.ts';

export interface StoreHealth {
  status: 'ok' | 'warning' | 'failed';
  /** One line without a path, an address or a name of a user. */
  message: string;
}

/** Everything the verdict rests on. */
export interface StorePicture extends FaultPicture {
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
export function healthOf(picture: StorePicture): StoreHealth {
  if (picture.place === 'memory' && picture.alarm !== null) {
    return { status: 'failed', message: picture.alarm };
  }
  if (picture.damaged) {
    return {
      status: 'failed',
      message: 'The database was found damaged while running. Restart: it is moved aside.',
    };
  }
  if (picture.failing !== null) {
    return { status: 'failed', message: `The database fails: ${picture.failing}. ${lost(picture)}` };
  }
  if (picture.alarm !== null) return { status: 'warning', message: picture.alarm };
  if (picture.walBytes >= WAL_ALARM_BYTES) {
    return {
      status: 'warning',
      message: `The log of the database is at ${megabytes(picture.walBytes)} MiB: another program reads the database and keeps it from shrinking. Close that program.`,
    };
  }
  if (picture.dropped > 0) return { status: 'warning', message: lost(picture) };
  return { status: 'ok', message: `SQLite ${picture.sqlite}, schema ${picture.version}.` };
}

function lost({ dropped, waiting }: StorePicture): string {
  return `${waiting} rows wait in memory, ${dropped} log rows were given up since the start.`;
}
