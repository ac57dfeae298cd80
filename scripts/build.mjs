// Plain JavaScript for Node 20: installs, and builds the changed parts of daemon and dashboard.
import { prepare } from './prepare.mjs';

prepare({ build: true });
