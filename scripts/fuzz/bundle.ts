import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..', '..');

/** Native code is not a target. */
const EXTERNAL = ['better-sqlite3', 'node-llama-cpp', 'sherpa-onnx-node'];

const REQUIRED = /const (\{[^}]+\}) = createRequire\(import\.meta\.url\)\('([^']+)'\)[^;]*;/g;

/** A required package would stay outside of a bundle; an imported one is included. */
const requiresAsImports = {
  name: 'requires-as-imports',
  enforce: 'pre' as const,
  transform: (code: string) => code.replace(REQUIRED, "import $1 from '$2';"),
};

/**
 * Bundles a target and everything that it calls, packages included, into one JavaScript file that a fuzzer
 * can instrument. Returns its path below `folder`.
 */
export async function bundle(name: string, source: string, folder: string): Promise<string> {
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [requiresAsImports],
    ssr: { noExternal: true, external: EXTERNAL, target: 'node' },
    build: {
      ssr: source,
      target: 'node24',
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: { output: { entryFileNames: `${name}.mjs`, codeSplitting: false } },
    },
  });
  return join(folder, `${name}.mjs`);
}
