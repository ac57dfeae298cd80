/** The entry point of svcctl. Compiled code lies beside the program, as that of the daemon does: it halves the start. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { ROOT } from '../kit/root.ts';

enableCompileCache(`${ROOT}/.cache/compile`);
// As it is built it is a CommonJS program, which cannot wait here.
void import('./run.ts').then(({ run }) => run(process.argv.slice(2))).then(flushCompileCache);
