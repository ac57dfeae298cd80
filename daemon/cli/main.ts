/** The entry point of svcctl. Compiled code lies beside the program, as that of the daemon does: it halves the start. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { ROOT } from '../kit/root.ts';

enableCompileCache(`${ROOT}/.cache/compile`);
const { run } = await import('./run.ts');
await run(process.argv.slice(2));
flushCompileCache();
