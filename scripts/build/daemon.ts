import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type BuildEnvironmentOptions, build, type Plugin } from 'vite';
import { ADDRESS } from './addresses.ts';

const TEST_FOLDERS = new Set(['test', 'testing', 'fixtures']);
/** Programs of their own: what is started, or read in by an address. */
const PROGRAM = /(^|\/)([a-z-]+-)?main\.ts$|\/card-trial\.ts$/;
/** Stands for the way from a built file to the folder of all of them. */
const TOP = '@daemon@/';

/** Chunks of earlier builds stay as long: a gateway that runs may still want to read them in. */
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

/** What a module says of its own place holds for where it would lie among the built files, which is where programs lie. */
function rewriteModuleUrls(sources: string): Plugin {
  return {
    name: 'own-places',
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
 * Packages of hundreds of files, and what these read in, are joined with ours: Node's loader takes about a millisecond for each file. All
 * others stay files: what they are is seen in `node_modules`, and so are those that bring native parts.
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
 * node-llama-cpp, joined with ours: it looks for what lies beside its files where they lie, and its trial of a binary is ours, which
 * `slots/workers/llama/binary-trial` puts in its place where it stays files.
 */
function bundleLlama(sources: string): Plugin {
  const FOLDER = '/node_modules/node-llama-cpp/dist/';
  const trial = join(sources, 'slots', 'workers', 'llama', 'card-trial.ts');
  return {
    name: 'joined-llama',
    enforce: 'pre',
    resolveId: (source, importer) =>
      importer?.includes(FOLDER) && source.endsWith('/testBindingBinary.js') ? trial : null,
    transform(code, id) {
      const at = id.indexOf(FOLDER);
      if (at < 0 || !code.includes('import.meta.url')) return null;
      const file = `./${id.slice(at + FOLDER.length)}`;
      const place = `new URL(${JSON.stringify(file)}, import.meta.resolve('node-llama-cpp')).href`;
      return code.replaceAll('import.meta.url', place);
    },
  };
}

/** How a file of ours is called below the sources. */
const below = (sources: string, id: string): string => relative(sources, id).split(sep).join('/');

/**
 * What svcctl reads in late of the daemon, such as its sub-commands, stays with the daemon's own files: a part of it among those of svcctl
 * would not know the errors of the rest for what they are. `left` gathers their paths.
 */
function externalizeDaemon(sources: string, lateImports: Set<string>): Plugin {
  return {
    name: 'left-to-daemon',
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

/** What a chunk is called until all texts are known: such names are numbered as it happens. */
const UNKNOWN_HASH = /!~\{\w+\}~/g;

/**
 * Imports in the order of their sources. Rolldown's own order depends on which file a busy machine has read first (two builds of a hundred,
 * with 1.2.19), and with it the names of chunks: the same sources would not give the same package.
 */
export function sortedImports(code: string): string {
  const lines = code.split('\n');
  const rest = lines.findIndex((line) => !line.startsWith('import '));
  const after = rest < 0 ? lines.length : rest;
  const key = (line: string) => `${line.slice(line.lastIndexOf(' "'))} ${line}`.replace(UNKNOWN_HASH, '');
  const sorted = lines.slice(0, after).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return [...sorted, ...lines.slice(after)].join('\n');
}

const steadyImports: Plugin = {
  name: 'steady-imports',
  renderChunk: (code, { fileName }) => (fileName.endsWith('.js') ? sortedImports(code) : null),
};

/** Text beyond ASCII as escapes: V8 keeps a source with a character beyond Latin-1 in two bytes each. For code without comments. */
export const toAscii = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = toAscii(file.code);
  },
};

interface Programs {
  readonly plugins: Plugin[];
  /** Packages that are joined with them; all others stay files. */
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
 * Builds svcctl into `out`: one file of CommonJS. Half of what a short command took was Node's loader of modules, at a millisecond or
 * two for each file and ten for what it lists of Node's own. Answers the files of the daemon that it reads in late.
 */
async function buildSvcctl(root: string, out: string, sources: string): Promise<ReadonlySet<string>> {
  const lateImports = new Set<string>();
  await buildPrograms(root, out, {
    plugins: [externalizeDaemon(sources, lateImports), rewriteModuleUrls(sources), ascii],
    bundled: ['smol-toml'],
    options: {
      input: inputsFor(sources, [SVCCTL]),
      output: {
        format: 'cjs',
        entryFileNames: '[name].cjs',
        codeSplitting: false,
        // Names stay, for who reads where an error came from.
        minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
      },
      // All commands lie in one file, which some ask for late: then they are run late.
      checks: { ineffectiveDynamicImport: false },
    },
  });
  return lateImports;
}

/**
 * Builds the daemon, svcctl and their worker programs into `out`: plain JavaScript in a few files, each program under the
 * name that it has among the sources. A start of a gateway reads in a thousand modules, three quarters of them ours; joined, they
 * take a third less CPU. So are the largest packages (`JOINED`). `more` names programs outside of the daemon that start it, by file.
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
    plugins: [bundleLlama(sources), rewriteModuleUrls(sources), steadyImports],
    bundled: BUNDLED_PACKAGES,
    options: {
      // Of a library what nobody asks for is left out, downloads of models and what they show at a terminal among it.
      treeshake: { moduleSideEffects: (id) => !/\/node_modules\/(node-llama-cpp|zod)\//.test(id) },
      input: { ...more, ...inputsFor(sources, [...own, ...wanted]) },
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  });
}

/** Removes what older builds have left in `out`. */
export function sweep(out: string, now = Date.now()): void {
  const folder = join(out, 'chunks');
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (now - statSync(file).mtimeMs > CHUNK_MAX_AGE_MS) rmSync(file);
  }
}
