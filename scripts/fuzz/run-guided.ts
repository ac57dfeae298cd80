// `node run-guided.ts [--minutes N] [--replay FILE] [target …]`: each target in turn, for a minute by default.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { guided } from './guided.ts';
import { TARGETS, type Target, type TargetName } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '1' }, replay: { type: 'string' } },
});
const unknown = positionals.find((name) => !(name in TARGETS));
if (unknown !== undefined)
  stop(`There is no target "${unknown}". Targets: ${Object.keys(TARGETS).join(', ')}`);
if (values.replay !== undefined && positionals.length !== 1) stop('--replay needs the name of one target');
const minutes = Number(values.minutes);
if (!(minutes > 0)) stop('--minutes needs a number');

const { SVC_TEST_JAZZER: jazzer, SVC_TEST_LIBC: libc } = process.env;
if (!jazzer || !libc) stop('SVC_TEST_JAZZER and SVC_TEST_LIBC name the fuzzer: npm run fuzz -- --guided');
const fuzzer = { jazzer, libc };

const configuredSeed = Number(process.env.SVC_TEST_SEED);
const seed =
  Number.isInteger(configuredSeed) && configuredSeed > 0
    ? configuredSeed
    : Math.ceil(Math.random() * 2 ** 30);
const chosen = (positionals.length > 0 ? positionals : Object.keys(TARGETS)) as TargetName[];
console.log(`guided fuzzing: SVC_TEST_SEED=${seed}, ${minutes} min each`);

let failed = 0;
for (const name of chosen) {
  const target: Target = TARGETS[name];
  const result = await guided({
    name,
    target,
    fuzzer,
    seed,
    source: join(import.meta.dirname, 'targets', `${name}.ts`),
    folder: join(root, '.cache', 'fuzz'),
    corpora: [join(import.meta.dirname, 'corpus', name)],
    seconds: minutes * 60,
    ...(values.replay === undefined ? {} : { replay: values.replay }),
  });
  const figures = `${result.executed} inputs, ${result.coverage} branches`;
  console.log(`${result.code === 0 ? 'ok  ' : 'FAIL'} ${name} (${target.what}): ${figures}`);
  if (result.code === 0) continue;
  failed += 1;
  console.log(result.output.slice(-8_000));
}
if (failed > 0)
  console.log(
    'An input that was found lies in .cache/fuzz/findings; -- --guided --replay FILE TARGET plays it again, and ' +
      'scripts/fuzz/corpus/TARGET keeps it for good.',
  );
process.exitCode = failed === 0 ? 0 : 1;
