/** The entry point of svcctl. Its launchers name the folder of compiled code, which halves the start. */
import { run } from './run.ts';

void run(process.argv.slice(2));
