import type { Cpu } from './modules.ts';

/** Files that are never run: type sources, maps, repository files. Licences are always kept. */
const NEVER = [
  /\.(ts|mts|cts|tsx|map|flow|markdown|md|html|yml|yaml|tsbuildinfo)$/i,
  /(^|\/)\.[^/]+$/,
  /(^|\/)(bower\.json|Makefile|gulpfile\.js|Gruntfile\.js|tsconfig[^/]*\.json|binding\.gyp|karma\.conf\.js)$/,
  /^(test|tests|__tests__|example|examples|bench|benchmark|benchmarks|docs|doc|man|coverage|fixtures)\//,
];
const LICENCE = /(^|\/)(licen[cs]e|notice|copying|copyright|authors)[^/]*$/i;

/** Unused files of some packages: sources to compile, and binaries of other platforms. */
const PACKAGE_RULES: Readonly<Record<string, (file: string, cpu: Cpu) => boolean>> = {
  'better-sqlite3': (file, cpu) =>
    !/^(deps|src|build)\//.test(file) &&
    (!file.startsWith('prebuilds/') || file === `prebuilds/linux-${cpu}.node`),
  'node-llama-cpp': (file) => !/^llama\/(?!grammars\/|[^/]+\.json$)/.test(file),
  '@huggingface/hub': (file) => !file.startsWith('src/'),
  '@huggingface/tasks': (file) => !file.startsWith('src/'),
  '@huggingface/gguf': (file) => !file.startsWith('src/'),
  '@huggingface/jinja': (file) => !file.startsWith('src/'),
  '@jsquash/jpeg': (file) => !file.startsWith('codec/dec/'),
  '@jsquash/webp': (file) => !file.startsWith('codec/dec/'),
};

/** Whether a file of a package is shipped. `file` is its path inside the package. */
export function isShipped(name: string, file: string, cpu: Cpu): boolean {
  if (LICENCE.test(file)) return !file.includes('/') || !(PACKAGE_RULES[name]?.(file, cpu) === false);
  if (NEVER.some((pattern) => pattern.test(file))) return false;
  return PACKAGE_RULES[name]?.(file, cpu) ?? true;
}
