import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type BuildEnvironmentOptions, build, type Plugin } from 'vite';
import { ADDRESS } from './addresses.ts';

const TEST_FOLDERS = new Set(['test', 'testing', 'fixtures']);
/** Separate programs: those that are started, or loaded by URL. */
const PROGRAM = /(^|\/)([a-z-]+-)?main\.ts$|\/gpu-probe\.ts$/;
/** Placeholder for the path from a built file to the output folder. */
const TOP = '@daemon@/';

/** Chunks of earlier builds are kept this long: a running gateway may still load them. */
const CHUNK_MAX_AGE_MS = 7 * 24 * 60 * 60_000;

function programs(folder: string, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${prefix}${entry.name}`;
    if (!entry.isDirectory()) return PROGRAM.test(path) ? [path] : [];
    return TEST_FOLDERS.has(entry.name) ? [] : programs(join(folder, entry.name), `${path}/`);
  });
}

const SVCCTL = 'cli/main.ts';

const inputsFor = (sources: string, paths: Iterable<string>): Record<string, string> =>
  Object.fromEntries([...paths].map((path) => [path.replace(/\.ts$/, ''), sources + path]));

/**
 * Rewrites URLs that a module builds from its own location to the location of the built files, where the
 * programs are.
 */
function rewriteModuleUrls(sources: string): Plugin {
  return {
    name: 'module-urls',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(sources) || !code.includes('import.meta.')) return null;
      const file = relative(sources, id).split(sep).join('/').replace(/\.ts$/, '.js');
      const folder = dirname(file) === '.' ? '' : dirname(file);
      const url = (path: string) => `new URL(${JSON.stringify(TOP + path)}, import.meta.url)`;
      return code
        .replace(ADDRESS, 'new URL($1$2.js$1, import.meta.url)')
        .replace(/import\.meta\.url/g, `${url(file)}.href`)
        .replace(
          /import\.meta\.dirname/g,
          `process.getBuiltinModule('node:url').fileURLToPath(${url(folder)})`,
        );
    },
    renderChunk(code, chunk) {
      if (!code.includes(TOP)) return null;
      return code.replaceAll(TOP, '../'.repeat(chunk.fileName.split('/').length - 1) || './');
    },
  };
}

/**
 * Packages of hundreds of files, and their dependencies, are bundled: Node's loader takes about a millisecond
 * per file. All other packages stay in `node_modules`, as do those with native parts.
 */
const BUNDLED_PACKAGES = [
  ...['zod', 'smol-toml', 'node-llama-cpp', 'lifecycle-utils', 'semver', 'fs-extra', 'env-var', 'retry'],
  ...[
    'async-retry',
    'cross-spawn',
    'which',
    'isexe',
    'shebang-command',
    'shebang-regex',
    'path-key',
    'chalk',
  ],
  ...['graceful-fs', 'jsonfile', 'universalify', 'proper-lockfile', 'signal-exit'],
];

/**
 * Bundles node-llama-cpp: it looks for files next to its own, and its binary test is replaced by the
 * gateway's, as `slots/workers/llama/binary-probe` does where it is not bundled.
 */
function bundleLlama(sources: string): Plugin {
  const FOLDER = '/node_modules/node-llama-cpp/dist/';
  const trial = join(sources, 'slots', 'workers', 'llama', 'gpu-probe.ts');
  return {
    name: 'bundle-llama',
    enforce: 'pre',
    resolveId: (source, importer) =>
      importer?.includes(FOLDER) && source.endsWith('/testBindingBinary.js') ? trial : null,
    transform(code, id) {
      const at = id.indexOf(FOLDER);
      if (at < 0 || !code.includes('import.meta.url')) return null;
      const file = `./${id.slice(at + FOLDER.length)}`;
      const url = `new URL(${JSON.stringify(file)}, import.meta.resolve('node-llama-cpp')).href`;
      return code.replaceAll('import.meta.url', url);
    },
  };
}

/** Returns the path of a file below the sources. */
const below = (sources: string, id: string): string => relative(sources, id).split(sep).join('/');

/**
 * Keeps the daemon modules that svcctl imports dynamically, such as its sub-commands, in the daemon build. A
 * copy among the files of svcctl would break `instanceof` for shared errors. Collects their paths in
 * `lateImports`.
 */
function externalizeDaemon(sources: string, lateImports: Set<string>): Plugin {
  return {
    name: 'externalize-daemon',
    enforce: 'pre',
    async resolveId(source, importer, { kind }) {
      if (kind !== 'dynamic-import' || !source.startsWith('.')) return null;
      const found = await this.resolve(source, importer, { skipSelf: true });
      if (found === null || !found.id.startsWith(sources)) return null;
      const path = below(sources, found.id);
      if (path.startsWith('cli/')) return null;
      lateImports.add(path);
      return { id: TOP + path.replace(/\.ts$/, '.js'), external: true };
    },
  };
}

/** The placeholder of a chunk name until all texts are known. Placeholders are numbered in random order. */
const UNKNOWN_HASH = /!~\{\w+\}~/g;

/**
 * Sorts imports by their source. Rolldown's own order depends on which file a busy machine reads first (two
 * builds of a hundred, with 1.2.19), and chunk names depend on it: the same sources would not give the same
 * package.
 */
export function sortedImports(code: string): string {
  const lines = code.split('\n');
  const rest = lines.findIndex((line) => !line.startsWith('import '));
  const after = rest < 0 ? lines.length : rest;
  const key = (line: string) => `${line.slice(line.lastIndexOf(' "'))} ${line}`.replace(UNKNOWN_HASH, '');
  const sorted = lines.slice(0, after).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return [...sorted, ...lines.slice(after)].join('\n');
}

const sortImports: Plugin = {
  name: 'sort-imports',
  renderChunk: (code, { fileName }) => (fileName.endsWith('.js') ? sortedImports(code) : null),
};

interface Programs {
  readonly plugins: Plugin[];
  /** Bundled packages; all others stay files. */
  readonly bundled: string[];
  readonly options: BuildEnvironmentOptions['rolldownOptions'];
}

async function buildPrograms(root: string, out: string, programs: Programs): Promise<void> {
  const { plugins, bundled, options } = programs;
  await build({
    ...{ root, configFile: false, logLevel: 'warn', publicDir: false, plugins },
    ssr: { external: true, noExternal: bundled, target: 'node' },
    build: {
      ...{ ssr: true, target: 'node24', outDir: out, emptyOutDir: false, minify: false },
      rolldownOptions: options,
    },
  });
}

/**
 * Builds svcctl into `out` as one CommonJS file. Half of the time of a short command was Node's module
 * loader, at a millisecond or two per file and ten for listing Node's own. Returns the daemon files that it
 * imports dynamically.
 */
async function buildSvcctl(root: string, out: string, sources: string): Promise<ReadonlySet<string>> {
  const lateImports = new Set<string>();
  await buildPrograms(root, out, {
    plugins: [externalizeDaemon(sources, lateImports), rewriteModuleUrls(sources)],
    bundled: [
      ...['ansi-regex', 'commander', 'eventsource-parser', 'get-east-asian-width', 'ipaddr.js', 'lru-cache'],
      ...['smol-toml', 'string-width', 'strip-ansi'],
    ],
    options: {
      input: inputsFor(sources, [SVCCTL]),
      output: {
        format: 'cjs',
        entryFileNames: '[name].cjs',
        codeSplitting: false,
        // Names are kept, so that stack traces are readable.
        minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
      },
      // All commands are in one file, although some are imported dynamically. They are evaluated late then.
      checks: { ineffectiveDynamicImport: false },
    },
  });
  return lateImports;
}

/**
 * Builds the daemon, svcctl and their worker programs into `out`: plain JavaScript in a few files, each
 * program under its name among the sources. A start loads a thousand modules, three quarters of them the
 * gateway's; bundled, they take a third less CPU. The largest packages are bundled too (`BUNDLED_PACKAGES`).
 * `more` names programs outside of the daemon that start it, by file.
 */
export async function buildDaemon(
  root: string,
  out: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sources = join(root, 'daemon') + sep;
  const wanted = await buildSvcctl(root, out, sources);
  const own = programs(sources).filter((path) => path !== SVCCTL);
  await buildPrograms(root, out, {
    plugins: [bundleLlama(sources), rewriteModuleUrls(sources), sortImports],
    bundled: BUNDLED_PACKAGES,
    options: {
      // Unused code of these libraries is removed, including model downloads and their terminal output.
      treeshake: { moduleSideEffects: (id) => !/\/node_modules\/(node-llama-cpp|zod)\//.test(id) },
      input: { ...more, ...inputsFor(sources, [...own, ...wanted]) },
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  });
}

/** Removes old chunks of earlier builds from `out`. */
export function sweep(out: string, now = Date.now()): void {
  const folder = join(out, 'chunks');
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (now - statSync(file).mtimeMs > CHUNK_MAX_AGE_MS) rmSync(file);
  }
}
