import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Output of a run; never committed. */
export const artifacts = join(root, 'artifacts');
export const screenshots = join(artifacts, 'screenshots');
/** The built dashboard that the daemons serve. */
export const built = join(root, 'dist', 'dashboard');
/** The sources that it is built from. */
export const sources = join(root, 'dashboard');
