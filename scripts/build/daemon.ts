import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { build, type Plugin } from 'vite';
import { ADDRESS } from './addresses.ts';

const TEST_FOLDERS = new Set(['test', 'testing', 'fixtures']);
/** Programs of their own: what is started, or read in by an address. */
const PROGRAM = /(^|\/)([a-z-]+-)?main\.ts$|\/card-trial\.ts$/;
/** Stands for the way from a built file to the folder of all of them. */
const TOP = '@daemon@/';

/** Chunks of earlier builds stay as long: a gateway that runs may still want to read them in. */
const OLD_MS = 7 * 24 * 60 * 60_000;

function programs(folder: string, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${prefix}${entry.name}`;
    if (!entry.isDirectory()) return PROGRAM.test(path) ? [path] : [];
    return TEST_FOLDERS.has(entry.name) ? [] : programs(join(folder, entry.name), `${path}/`);
  });
}

const ownPrograms = (sources: string): Record<string, string> =>
  Object.fromEntries(programs(sources).map((path) => [path.replace(/\.ts$/, ''), sources + path]));

/** What a module says of its own place holds for where it would lie among the built files, which is where programs lie. */
function ownPlaces(sources: string): Plugin {
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
 * Builds the daemon, svcctl and their worker programs into `out`: plain JavaScript in a few files, each program under the
 * name that it has among the sources. A start of a gateway reads in a thousand modules, three quarters of them ours; joined, they
 * take a third less CPU. Packages stay packages. `more` names programs outside of the daemon that start it, by file.
 */
export async function buildDaemon(
  root: string,
  out: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sources = join(root, 'daemon') + sep;
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [ownPlaces(sources)],
    ssr: { external: true, target: 'node' },
    build: {
      ssr: true,
      target: 'node24',
      outDir: out,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: {
        input: { ...more, ...ownPrograms(sources) },
        output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  });
}

/** Removes what older builds have left in `out`. */
export function sweep(out: string, now = Date.now()): void {
  const folder = join(out, 'chunks');
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (now - statSync(file).mtimeMs > OLD_MS) rmSync(file);
  }
}
