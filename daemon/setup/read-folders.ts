import { access, constants, readFile, stat } from 'node:fs/promises';
import type { SetupView } from '../contract/setup.ts';
import { scanFolders } from '../models/scan.ts';
import { homesIn, type KnownFolder, knownFolders } from './known-folders.ts';
import { ollamaModels } from './ollama-links.ts';

export type FolderView = SetupView['folders'][number];

/** Limits of a scan. It only counts models. */
const SCAN_LIMITS = { depth: 6, entries: 5_000, models: 200 };

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const isRefusal = (code: string): boolean => code === 'EACCES' || code === 'EPERM';

/** Returns the state of a folder for this process, or null when it does not exist. */
async function stateOf({ path, home }: KnownFolder): Promise<FolderView['state'] | null> {
  try {
    if (!(await stat(path)).isDirectory()) return null;
    await access(path, constants.R_OK | constants.X_OK);
    return 'readable';
  } catch (error) {
    if (!isRefusal(codeOf(error))) return null;
    if (home === null) return 'unreadable';
    const inHome = await access(home, constants.X_OK).then(
      () => true,
      () => false,
    );
    return inHome ? 'unreadable' : 'hidden';
  }
}

async function countIn({ tool, path }: KnownFolder): Promise<number> {
  if (tool === 'Ollama') return (await ollamaModels(path)).length;
  return (await scanFolders([path], SCAN_LIMITS)).files.length;
}

/** Keeps one entry per hidden home. */
const onceForEachHome = (views: readonly FolderView[]): FolderView[] =>
  views.filter(
    ({ state, path }, index) =>
      state !== 'hidden' ||
      views.findIndex((other) => other.state === 'hidden' && other.path === path) === index,
  );

export interface FolderSources {
  /** Home of the user that the gateway runs as; null without one. */
  readonly home: string | null;
  variable(name: string): string | undefined;
  /** Folders that are scanned already. */
  used(): readonly string[];
  /** Default /etc/passwd. */
  readonly passwd?: string;
}

/** Returns the existing model folders of other programs, as this process sees them. Never rejects. */
export async function readFolders(sources: FolderSources): Promise<FolderView[]> {
  const passwd = await readFile(sources.passwd ?? '/etc/passwd', 'utf8').catch(() => '');
  const own = sources.home === null ? [] : [sources.home];
  const known = knownFolders([...new Set([...own, ...homesIn(passwd)])], (name) => sources.variable(name));
  const used = new Set(sources.used());
  const contents = await Promise.all(
    known.map(async (folder): Promise<FolderView | null> => {
      const state = await stateOf(folder);
      if (state === null) return null;
      if (state === 'hidden') return { tool: 'Home folder', path: folder.home ?? '', state, models: null };
      if (state === 'unreadable') return { tool: folder.tool, path: folder.path, state, models: null };
      const models = await countIn(folder).catch(() => 0);
      const shown = used.has(folder.path) ? 'used' : state;
      return { tool: folder.tool, path: folder.path, state: shown, models };
    }),
  );
  return onceForEachHome(contents.filter((view) => view !== null));
}
