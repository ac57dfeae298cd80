import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Returns a program that prints the modules that an import of `file` loads: files as URLs, built-in modules
 * by name.
 */
const reading = (file: string): string => `
  import { registerHooks } from 'node:module';
  const urls = new Set();
  registerHooks({ resolve(name, context, next) { const found = next(name, context); urls.add(found.url); return found; } });
  await import(${JSON.stringify(file)});
  process.stdout.write(JSON.stringify([...urls, ...process.moduleLoadList]), () => process.exit(0));
`;

function readIn(file: string): string[] {
  const args = ['--input-type=module', '-e', reading(join(import.meta.dirname, '..', file))];
  const text = execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000, maxBuffer: 1e7 });
  return JSON.parse(text) as string[];
}

/** Modules that only some calls use, or none. Each one adds 20 to 70 ms and some megabytes to every start. */
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
    'of %s loads only what it needs',
    (file) => {
      const all = readIn(file);
      expect(all.filter((name) => name.includes('/daemon/')).length).toBeGreaterThan(3);
      for (const pattern of NOT_AT_START) expect(all.filter((name) => pattern.test(name))).toEqual([]);
    },
  );
});

it('V8 flags are applied after all compilation, because cached code is only valid for its own flags', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'main.ts'), 'utf8');
  const [runAt = -1, flushAt = -1, flagsAt = -1] = [
    'await run(',
    'flushCompileCache();',
    'applyV8Flags();',
  ].map((call) => text.lastIndexOf(call));
  expect([runAt > 0, flushAt > runAt, flagsAt > flushAt]).toEqual([true, true, true]);
});
