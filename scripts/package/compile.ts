import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Entry, fileEntry, textEntry } from './entry.ts';

const TEST_FOLDERS = new Set(['test', 'testing', 'fixtures']);
/** Tests, and types of what others wrote in JavaScript. */
const LEFT_OUT = /(\.test\.ts|\.d\.ts|^testing\.ts)$/;

function filesBelow(folder: string, prefix: string): { path: string; file: string }[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const [path, file] = [`${prefix}/${entry.name}`, join(folder, entry.name)];
    if (entry.isDirectory()) return TEST_FOLDERS.has(entry.name) ? [] : filesBelow(file, path);
    return LEFT_OUT.test(entry.name) ? [] : [{ path, file }];
  });
}

/** Every text that ends in `.ts` names a module of ours: in an import, or as a program that is started. */
export const withJsNames = (code: string): string => code.replace(/\.ts(['"`])/g, '.js$1');

/**
 * The daemon as plain JavaScript: types are stripped as Node itself does, names of modules end in `.js`. Node refuses to strip
 * types below node_modules, and an installed program has no place to keep what it stripped.
 */
export function compiledDaemon(root: string): Entry[] {
  return filesBelow(join(root, 'daemon'), 'daemon').map(({ path, file }) => {
    if (!path.endsWith('.ts')) return fileEntry(path, file);
    const code = stripTypeScriptTypes(readFileSync(file, 'utf8'), { mode: 'strip' });
    return textEntry(path.replace(/\.ts$/, '.js'), withJsNames(code));
  });
}
