import { join } from 'node:path';
import type { SetupView } from '../contract/setup.ts';
import type { FolderView } from './read-folders.ts';

const COMMAND = 'sudo systemctl edit svc-gateway';
/** A hidden home may contain any of these. Because of the hyphen systemd ignores missing ones. */
const POSSIBLE_FOLDERS = ['.ollama/models', '.lmstudio/models', '.cache/llama.cpp', '.cache/huggingface/hub'];

/** Escapes a path for a unit file, where specifiers and colons have a meaning. */
const inUnit = (path: string): string => `-${path.replaceAll('%', '%%').replaceAll(':', '\\:')}`;
const quoted = (path: string): string =>
  /[\s"'\\]/.test(path) ? `"${path.replace(/(["\\])/g, '\\$1')}"` : path;

/**
 * Returns a drop-in that lets a gateway under systemd read hidden folders: other homes stay empty, and the
 * named folders are mounted read-only. Returns null when nothing is needed or systemd is not used.
 */
export function dropInFor(folders: readonly FolderView[], underSystemd: boolean): SetupView['drop_in'] {
  const paths = folders.flatMap(({ state, path }) => {
    if (state === 'unreadable') return [path];
    return state === 'hidden' ? POSSIBLE_FOLDERS.map((below) => join(path, below)) : [];
  });
  if (paths.length === 0 || !underSystemd) return null;
  const lines = paths.map((path) => `BindReadOnlyPaths=${quoted(inUnit(path))}`);
  return { command: COMMAND, text: ['[Service]', 'ProtectHome=tmpfs', ...lines].join('\n') };
}
