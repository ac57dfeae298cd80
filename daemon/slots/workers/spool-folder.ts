import { join } from 'node:path';

/** Returns the folder for temporary files of a worker, below the working folder of this process. */
export const spoolFolder = (): string => join(process.cwd(), 'spool');
