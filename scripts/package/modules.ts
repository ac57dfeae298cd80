/** The entry of an installed package in the lockfile. */
export interface Locked {
  readonly version?: string;
  /** Its own name, where it was installed under another one. */
  readonly name?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly integrity?: string;
  readonly license?: string;
}

export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

/** A package that ships with the gateway. */
export interface Module {
  /** Below the root: `node_modules/koa`, `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly licence: string;
}

export type Cpu = 'x64' | 'arm64';

/** Stands in for packages of platforms that are not served. */
const PLACEHOLDER = '@favware/skip-dependency';
/** Types and compilers that packages name as dependencies, and that nothing runs. */
const NEVER_RUN = [/^@types\//, /^undici-types$/, /^typescript$/, /^@typescript\//];
/** The runtime is shipped as one program, not as a package. */
const RUNTIME = /^node-linux-/;

const list = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();
const fits = (allowed: readonly string[], own: string): boolean =>
  allowed.length === 0 || (allowed.includes(own) && !allowed.includes(`!${own}`));

/**
 * Returns the processor in a package name: some packages can be installed on another processor, to build for
 * it.
 */
const cpuInName = (name: string): string | undefined => /(?:^|[-/])(arm64|x64)(?=[-/]|$)/.exec(name)?.[1];

function ships(path: string, name: string, entry: Locked, cpu: Cpu): boolean {
  if (!path.startsWith('node_modules/') || entry.dev || entry.devOptional) return false;
  if (entry.name === PLACEHOLDER || RUNTIME.test(name) || NEVER_RUN.some((pattern) => pattern.test(name))) {
    return false;
  }
  const right =
    fits(list(entry.os), 'linux') && fits(list(entry.cpu), cpu) && fits(list(entry.libc), 'glibc');
  return right && (cpuInName(name) ?? cpu) === cpu;
}

/**
 * Returns the packages of the lockfile that run on Linux with this processor, without development packages,
 * by path.
 */
export function productionModules(lock: Lock, cpu: Cpu): Module[] {
  const found: Module[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (!ships(path, name, entry, cpu)) continue;
    const { version = '', integrity = '', license = 'unknown' } = entry;
    found.push({ path, name, version, integrity, licence: license });
  }
  return found;
}

/** The pinned runtime for a processor. Throws when the lockfile has none. */
export function runtimeModule(lock: Lock, cpu: Cpu): Module {
  const name = `node-linux-${cpu}`;
  const path = `node_modules/${name}`;
  const entry = lock.packages[path];
  if (!entry?.version) throw new Error(`the lockfile has no ${name}`);
  return { path, name, version: entry.version, integrity: entry.integrity ?? '', licence: 'MIT' };
}
