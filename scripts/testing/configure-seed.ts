// Setup of vitest: with SVC_TEST_SEED every property test uses that seed. Without it fast-check chooses one and prints it on failure.
const seed = Number(process.env.SVC_TEST_SEED || Number.NaN);
if (Number.isInteger(seed)) (await import('fast-check')).default.configureGlobal({ seed });
