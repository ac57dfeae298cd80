// Plain JavaScript for Node 20: installs, and builds what of the daemon and the dashboard has changed.
import { prepare } from './prepare.mjs';

prepare({ build: true });
