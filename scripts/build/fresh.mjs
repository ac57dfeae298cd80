// What suites over a real port run: the daemon as it is built, from the sources as they are now.
import { buildDaemon } from '../prepare.mjs';

export const setup = () => buildDaemon(process.execPath);
