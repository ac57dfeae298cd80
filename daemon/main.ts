/**
 * The entry point of the daemon. It refuses an old runtime before anything native is loaded (better-sqlite3 crashes
 * on Node below 22 without a message), then hands over to `run`.
 */
const major = Number(process.versions.node.split('.')[0]);
if (major < 22) {
  process.stderr.write(
    `svc-gateway: Node ${process.versions.node} is too old for the daemon.\n  Start it with npm start, which installs and uses Node 24.\n`,
  );
  process.exit(1);
}
const { enableCompileCache, flushCompileCache } = await import('node:module');
// The compile cache is next to the program, so that only users who can change the program can change it. If
// that folder is not writable, the start only takes longer.
const { ROOT } = await import('./lib/fs/root.ts');
enableCompileCache(`${ROOT}/.cache/compile`);
const { pinTickShape } = await import('./lib/perf/pin-tick-shape.ts');
pinTickShape();
const { run } = await import('./app/run.ts');
await run(process.argv.slice(2), process.env);
flushCompileCache();
// Call this after `run` and the flush of the compile cache: tuning the heap earlier slows down the start (see
// `lib/perf/v8-flags.ts`).
const { applyV8Flags } = await import('./lib/perf/v8-flags.ts');
applyV8Flags();

export {};
