import { rmSync } from 'node:fs';

/**
 * Removes what was remembered of a run. A disk that does not let it go is told of in a line without a path, and stops nothing:
 * what is left behind fits no later run. Never throws.
 */
export function removeRecordFile(path: string, log: (line: string) => void = () => {}): void {
  try {
    rmSync(path, { force: true });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    log(`what was remembered of the engine could not be removed (${code})`);
  }
}
