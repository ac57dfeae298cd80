// Builds the daemon from the current sources, for suites over a real port.
import { buildDaemon } from '../prepare.mjs';

export const setup = () => buildDaemon(process.execPath);
