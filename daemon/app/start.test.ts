import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Prints what an import of `file` reads in: files as addresses, parts of Node by their names. */
const reading = (file: string): string => `
  import { registerHooks } from 'node:module';
  const seen = new Set();
  registerHooks({ resolve(name, context, next) { const found = next(name, context); seen.add(found.url); return found; } });
  await import(${JSON.stringify(file)});
  process.stdout.write(JSON.stringify([...seen, ...process.moduleLoadList]), () => process.exit(0));
`;

function readIn(file: string): string[] {
  const words = ['--input-type=module', '-e', reading(join(import.meta.dirname, '..', file))];
  const text = execFileSync(process.execPath, words, { encoding: 'utf8', timeout: 30_000, maxBuffer: 1e7 });
  return JSON.parse(text) as string[];
}

/** What only some calls use, or nobody; each costs every start 20 to 70 ms and some megabytes. */
const NOT_AT_START = [
  /node_modules\/(koa-body|formidable|co-body)\//,
  /node_modules\/@huggingface\//,
  /node_modules\/@opentelemetry\//,
  /node_modules\/undici\/lib\/(web|mock|cache|handler\/cache)/,
  /node_modules\/node-llama-cpp\//,
  /internal\/deps\/undici\//,
];

describe('a start', () => {
  it.each(['app/services.ts', 'slots/workers/lifecycle.ts', 'cli/run.ts'])(
    'of %s reads in what it needs',
    (file) => {
      const all = readIn(file);
      expect(all.filter((name) => name.includes('/daemon/')).length).toBeGreaterThan(3);
      for (const pattern of NOT_AT_START) expect(all.filter((name) => pattern.test(name))).toEqual([]);
    },
  );
});

it('V8 is told its flags behind all that is compiled: code that was kept holds for others', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'main.ts'), 'utf8');
  const [run = -1, kept = -1, told = -1] = ['await run(', 'flushCompileCache();', 'applyV8Flags();'].map(
    (call) => text.lastIndexOf(call),
  );
  expect([run > 0, kept > run, told > kept]).toEqual([true, true, true]);
});
