/** A full build of the daemon into a separate folder: its files are complete, and its programs run from there. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { scratch, scratchOfFile } from '../../../daemon/lib/testing/scratch.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const sources = join(root, 'daemon');
/** A folder with its own package.json, like an installed package. */
const place = scratchOfFile();
const built = (...path: string[]) => join(place, 'daemon', ...path);

const filesOf = (folder: string, end: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(end));

beforeAll(() => {
  writeFileSync(join(place, 'package.json'), '{"name":"svc-gateway","version":"7.7.7","type":"module"}');
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  execFileSync(process.execPath, [join(root, 'scripts', 'build', 'main.ts'), built()]);
});

describe('the built daemon', () => {
  it('has each program that a source names by URL', () => {
    const named = filesOf(sources, '.ts')
      .filter((name) => !/\.test\.ts$|(^|\/)(test|testing|fixtures)\//.test(name))
      .flatMap((name) =>
        [...readFileSync(join(sources, name), 'utf8').matchAll(/'([^']+)\.ts', import\.meta\.url/g)].map(
          ([, path = '']) => `${relative(sources, join(sources, dirname(name), path))}.js`,
        ),
      );
    expect(named.length).toBeGreaterThan(2);
    const workers = ['slots/workers/llama-main.js', 'slots/workers/speech-main.js'];
    for (const name of [...named, ...workers, 'main.js', 'cli/main.cjs'])
      expect(existsSync(built(name)), name).toBe(true);
  });

  it('names no source and no test, and bundles hundreds of files', () => {
    const files = filesOf(built(), '.js');
    expect(files.length).toBeLessThan(250);
    for (const name of files) {
      const text = readFileSync(built(name), 'utf8');
      expect(text, name).not.toMatch(/@daemon@|\.ts['"`], (new URL|import\.meta)|vitest/);
      expect(text, name).not.toContain(root);
    }
  });

  it.each(['main.js', 'cli/main.cjs'])('%s runs from its folder', (name) => {
    const text = execFileSync(process.execPath, [built(name), '--version'], { encoding: 'utf8' });
    expect(text).toContain('7.7.7');
  });

  it('svcctl runs the code that it shares with the daemon', () => {
    const env = { PATH: process.env.PATH, SVC_HOME: scratch() };
    const program = built('cli/main.cjs');
    expect(execFileSync(process.execPath, [program, 'config'], { env, encoding: 'utf8' })).toContain(
      env.SVC_HOME,
    );
    const { stdout } = spawnSync(process.execPath, [program, 'doctor'], { env, encoding: 'utf8' });
    expect(stdout).toContain('configuration');
    const refused = spawnSync(process.execPath, [program, 'restore', built('main.js'), '--json'], {
      env,
      encoding: 'utf8',
    });
    expect(JSON.parse(refused.stdout || refused.stderr)).toMatchObject({
      error: { code: 'restore.invalid' },
    });
  });
});

it('svcctl is one CommonJS file; daemon code for a few commands is separate', () => {
  expect(filesOf(built(), '.cjs')).toEqual(['cli/main.cjs']);
  const text = readFileSync(built('cli/main.cjs'), 'utf8');
  const required = [...text.matchAll(/\brequire\(["`]([^"`]+)["`]\)/g)].map(([, name = '']) => name);
  expect(required).toContain('node:fs');
  expect(required.filter((name) => !isBuiltin(name))).toEqual([]);
  const named = [...text.matchAll(/import\(["`]\.\.\/([^"`]+)["`]\)/g)].map(([, name = '']) => name);
  expect(named).toContain('app/run.js');
  for (const name of named) expect(existsSync(built(name)), name).toBe(true);
});

it('node-llama-cpp is bundled with the worker, finds its files and uses our binary test', () => {
  const texts = filesOf(built(), '.js').map((name) => readFileSync(built(name), 'utf8'));
  for (const text of texts) expect(text).not.toMatch(/^import .*"(node-llama-cpp|zod)"/m);
  const [library = '', ...others] = texts.filter((text) => text.includes('class LlamaModel '));
  expect(others).toEqual([]);
  expect(library).toContain('new URL("./config.js", import.meta.resolve("node-llama-cpp")).href');
  expect(library).not.toMatch(/fork\(__filename/);
});
