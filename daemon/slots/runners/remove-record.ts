import { rmSync } from 'node:fs';

/**
 * Removes the record of a run. If the disk refuses, logs that without the path and continues: a leftover record
 * matches no later run. Never throws.
 */
export function removeRecordFile(path: string, log: (line: string) => void = () => {}): void {
  try {
    rmSync(path, { force: true });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    log(`the run record of the engine could not be removed (${code})`);
  }
}
