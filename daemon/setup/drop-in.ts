import { join } from 'node:path';
import type { SetupView } from '../contract/setup.ts';
import type { FolderView } from './read-folders.ts';

const COMMAND = 'sudo systemctl edit svc-gateway';
/** Below a hidden home any of these may be; systemd passes over what is not there because of the hyphen. */
const MAYBE = ['.ollama/models', '.lmstudio/models', '.cache/llama.cpp', '.cache/huggingface/hub'];

/** A path as a unit file takes it: specifiers and colons would mean something. */
const inUnit = (path: string): string => `-${path.replaceAll('%', '%%').replaceAll(':', '\\:')}`;
const quoted = (path: string): string =>
  /[\s"'\\]/.test(path) ? `"${path.replace(/(["\\])/g, '\\$1')}"` : path;

/**
 * What lets a gateway that systemd started read folders that its unit hides: other homes stay empty, the named folders are
 * mounted to be read only. Null when there is nothing to add, or nobody to add it to.
 */
export function dropInFor(folders: readonly FolderView[], underSystemd: boolean): SetupView['drop_in'] {
  const paths = folders.flatMap(({ state, path }) => {
    if (state === 'unreadable') return [path];
    return state === 'hidden' ? MAYBE.map((below) => join(path, below)) : [];
  });
  if (paths.length === 0 || !underSystemd) return null;
  const lines = paths.map((path) => `BindReadOnlyPaths=${quoted(inUnit(path))}`);
  return { command: COMMAND, text: ['[Service]', 'ProtectHome=tmpfs', ...lines].join('\n') };
}
