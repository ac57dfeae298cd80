import { lstat, mkdir, readdir, readFile, readlink, stat, symlink, unlink } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { modelId, uniqueId } from '../models/model-id.ts';

/** A model as Ollama stores it: a name, and a GGUF file that is named by its sum. */
export interface OllamaModel {
  readonly name: string;
  readonly blob: string;
}

const MAX_MODELS = 500;
/** Host, owner, model: folders above the tags. */
const DEPTH = 3;
const MAX_MANIFEST_BYTES = 256 * 1024;
const MODEL_LAYER = 'application/vnd.ollama.image.model';
const DIGEST = /^sha256[:-]([0-9a-f]{64})$/;

interface Manifest {
  readonly layers?: readonly { readonly mediaType?: unknown; readonly digest?: unknown }[];
}

/** Returns the digest of the only layer with weights, or null. Pure. */
export function weightsIn(text: string): string | null {
  try {
    const { layers } = JSON.parse(text) as Manifest;
    const weights = (Array.isArray(layers) ? layers : []).filter((layer) => layer?.mediaType === MODEL_LAYER);
    return weights.length === 1 ? (DIGEST.exec(String(weights[0]?.digest))?.[1] ?? null) : null;
  } catch {
    return null;
  }
}

async function filesBelow(folder: string, depth: number, found: string[] = []): Promise<string[]> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (found.length >= MAX_MODELS) break;
    const path = join(folder, entry.name);
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && depth > 0) await filesBelow(path, depth - 1, found).catch(() => {});
  }
  return found;
}

/** A model before it has a name, with its possible names, shortest first. */
interface StoredModel {
  readonly names: readonly string[];
  readonly blob: string;
}

/** Returns `model-tag`, then the same with its owner, then with owner and host. */
function namesOf(manifest: string): string[] {
  const parts = manifest.split(sep);
  return [2, 3, 4].map((length) => modelId(`${parts.slice(-length).join('-')}.gguf`));
}

async function modelAt(root: string, manifest: string): Promise<StoredModel | null> {
  const path = join(root, 'manifests', manifest);
  const { size } = await stat(path);
  const sum = size > MAX_MANIFEST_BYTES ? null : weightsIn(await readFile(path, 'utf8'));
  if (sum === null) return null;
  const blob = join(root, 'blobs', `sha256-${sum}`);
  return (await stat(blob)).isFile() ? { names: namesOf(manifest), blob } : null;
}

/** Ollama's library models come first, so that an uploaded model cannot take a library name. */
const libraryFirst = (a: string, b: string): number => {
  const [own, other] = [a, b].map((path) => path.includes(`${sep}library${sep}`));
  return Number(other) - Number(own) || (a < b ? -1 : 1);
};

/** What an Ollama stores; at most 500. Rejects when its list can't be read. */
async function storedIn(root: string): Promise<StoredModel[]> {
  const folder = join(root, 'manifests');
  const manifests = (await filesBelow(folder, DEPTH))
    .map((path) => relative(folder, path))
    .sort(libraryFirst);
  const found = await Promise.all(manifests.map((path) => modelAt(root, path).catch(() => null)));
  return found.filter((model) => model !== null);
}

/**
 * Gives each model a unique name that is not in `held` (name → blob): the short one to the first, one with
 * its owner to the next. The same file under the same name in another folder is the same model. Pure.
 */
function named(models: readonly StoredModel[], held: ReadonlyMap<string, string>): OllamaModel[] {
  const modelNames = new Map(held);
  const isTaken = (name: string) => modelNames.has(name);
  for (const { names, blob } of models) {
    if (names.some((name) => basename(modelNames.get(name) ?? '') === basename(blob))) continue;
    const name = names.find((each) => !isTaken(each)) ?? uniqueId(names.at(-1) as string, isTaken);
    modelNames.set(name, blob);
  }
  return [...modelNames].filter(([name]) => !held.has(name)).map(([name, blob]) => ({ name, blob }));
}

/** The models in the folder of an Ollama that can be read; at most 500. Rejects when its list can't be read. */
export async function ollamaModels(root: string): Promise<OllamaModel[]> {
  return named(await storedIn(root), new Map());
}

/** The links in a folder: name → target. */
async function linksIn(folder: string): Promise<Map<string, string>> {
  const links = new Map<string, string>();
  for (const name of await readdir(folder)) {
    const target = await readlink(join(folder, name)).catch(() => null);
    if (target !== null) links.set(name, target);
  }
  return links;
}

/**
 * Links every model of these Ollama folders below `folder` under a unique name with the extension that a scan
 * requires. Removes links to deleted models. Never touches regular files or links of a folder that cannot be
 * read; calls `onUnreadable` for it.
 */
export async function linkOllama(
  roots: readonly string[],
  folder: string,
  onUnreadable: (error: Error) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const links = await linksIn(folder);
  const [stored, unreadable]: [StoredModel[], string[]] = [[], []];
  for (const root of roots) {
    const models = await storedIn(root).catch((error: Error) => {
      onUnreadable(error);
      return null;
    });
    if (models === null) unreadable.push(root);
    else stored.push(...models);
  }
  const leadsTo = (target: string, some: readonly string[]) =>
    some.some((root) => target.startsWith(join(root, 'blobs') + sep));
  const held = [...links].filter(([, target]) => leadsTo(target, unreadable));
  const models = named(stored, new Map(held.map(([name, blob]) => [name.replace(/\.gguf$/, ''), blob])));
  const wanted = new Map(models.map(({ name, blob }) => [`${name}.gguf`, blob]));
  const read = roots.filter((root) => !unreadable.includes(root));
  for (const [name, target] of links) {
    if (wanted.get(name) === target || !(wanted.has(name) || leadsTo(target, read))) continue;
    await unlink(join(folder, name));
  }
  for (const [name, blob] of wanted) {
    const path = join(folder, name);
    if ((await lstat(path).catch(() => null)) === null) await symlink(blob, path);
  }
}
