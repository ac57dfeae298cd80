import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { builtDaemon } from './build-daemon.ts';
import { type Entry, fileEntry, PROGRAM, textEntry } from './entry.ts';
import { fetchPackage } from './fetch.ts';
import { type Cpu, type Lock, type Module, productionModules, runtimeModule } from './modules.ts';
import { isShipped } from './prune.ts';

export interface App {
  readonly version: string;
  readonly modules: readonly Module[];
  readonly runtime: Module;
  /** The program folder: `bin/node`, `assets/…`, `cuda`, `daemon/…`, `node_modules/…`, `dist/dashboard/…`, `package.json`. */
  readonly entries: readonly Entry[];
}

export interface AppOptions {
  root: string;
  cpu: Cpu;
  /** Instead of the version of package.json. */
  version?: string | undefined;
}

function filesBelow(folder: string, base = folder): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path, base);
    return entry.isFile() ? [relative(base, path)] : [];
  });
}

/** Returns the folder of an installed package, or downloads a package for another processor. */
function folderOf(root: string, module: Module): string {
  const installed = join(root, module.path);
  return existsSync(join(installed, 'package.json')) ? installed : fetchPackage(root, module);
}

function moduleEntries(root: string, module: Module, cpu: Cpu): Entry[] {
  const folder = folderOf(root, module);
  return filesBelow(folder)
    .filter((file) => isShipped(module.name, file, cpu))
    .map((file) => fileEntry(`${module.path}/${file}`, join(folder, file)));
}

function dashboardEntries(root: string): Entry[] {
  const folder = join(root, 'dist', 'dashboard');
  if (!existsSync(join(folder, 'index.html'))) throw new Error('the dashboard is not built: npm run build');
  return filesBelow(folder).map((file) => fileEntry(`dist/dashboard/${file}`, join(folder, file)));
}

/** Everything that runs, the same for each way of installing it. */
export async function app({ root, cpu, version }: AppOptions): Promise<App> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const modules = productionModules(lock, cpu);
  const runtime = runtimeModule(lock, cpu);
  const { name, description, license } = manifest;
  const shown = version ?? String(manifest.version);
  const own = { name, version: shown, description, license, type: 'module' };
  const node = folderOf(root, runtime);
  return {
    version: shown,
    modules,
    runtime,
    entries: [
      fileEntry('bin/node', join(node, 'bin', 'node'), PROGRAM),
      fileEntry('bin/LICENSE', join(node, 'LICENSE')),
      fileEntry('LICENSE', join(root, 'LICENSE')),
      ...['catalog.json', 'svc-demo.gguf', 'svc-demo.json'].map((name) =>
        fileEntry(`assets/${name}`, join(root, 'assets', name)),
      ),
      fileEntry('cuda', join(root, 'packaging', 'cuda.sh'), PROGRAM),
      textEntry('package.json', `${JSON.stringify(own, null, 2)}\n`),
      ...(await builtDaemon(root)),
      ...dashboardEntries(root),
      ...modules.flatMap((module) => moduleEntries(root, module, cpu)),
    ],
  };
}
