/** The entry point of svcctl. Compiled code lies beside the program, as that of the daemon does: it halves the start. */
import { enableCompileCache, flushCompileCache } from 'node:module';

enableCompileCache(`${import.meta.dirname}/../../.cache/compile`);
const { run } = await import('./run.ts');
await run(process.argv.slice(2));
flushCompileCache();
