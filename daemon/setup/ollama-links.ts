import { lstat, mkdir, readdir, readFile, readlink, stat, symlink, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { modelId } from '../models/model-id.ts';

/** A model as Ollama stores it: a name, and a GGUF file that is named by its sum. */
export interface OllamaModel {
  readonly name: string;
  readonly blob: string;
}

const MOST_MODELS = 500;
/** Host, owner, model: folders above the tags. */
const DEPTH = 3;
const LARGEST_MANIFEST = 256 * 1024;
const MODEL_LAYER = 'application/vnd.ollama.image.model';
const DIGEST = /^sha256[:-]([0-9a-f]{64})$/;

interface Manifest {
  readonly layers?: readonly { readonly mediaType?: unknown; readonly digest?: unknown }[];
}

/** Sum of the one layer that holds the weights; null for anything else. Pure. */
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
    if (found.length >= MOST_MODELS) break;
    const path = join(folder, entry.name);
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && depth > 0) await filesBelow(path, depth - 1, found).catch(() => {});
  }
  return found;
}

async function modelAt(root: string, manifest: string): Promise<OllamaModel | null> {
  const { size } = await stat(manifest);
  const sum = size > LARGEST_MANIFEST ? null : weightsIn(await readFile(manifest, 'utf8'));
  if (sum === null) return null;
  const blob = join(root, 'blobs', `sha256-${sum}`);
  if (!(await stat(blob)).isFile()) return null;
  const [model = '', tag = ''] = manifest.split(sep).slice(-2);
  return { name: modelId(`${model}-${tag}.gguf`), blob };
}

/** The models in the folder of an Ollama that can be read; at most 500. Rejects when its list can't be read. */
export async function ollamaModels(root: string): Promise<OllamaModel[]> {
  const manifests = await filesBelow(join(root, 'manifests'), DEPTH);
  const found = await Promise.all(manifests.sort().map((path) => modelAt(root, path).catch(() => null)));
  return found.filter((model) => model !== null);
}

/**
 * Gives every model of an Ollama a link with a name of its own below `folder`, where a scan finds it: a file without an ending is
 * none to a scan. Links to what is gone are removed; files that are no links are never touched.
 */
export async function linkOllama(root: string, folder: string): Promise<void> {
  const models = await ollamaModels(root);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = new Set(models.map(({ name }) => `${name}.gguf`));
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const target = await readlink(path).catch(() => null);
    if (target?.startsWith(join(root, 'blobs') + sep) && !names.has(name)) await unlink(path);
  }
  for (const { name, blob } of models) {
    const path = join(folder, `${name}.gguf`);
    const there = await lstat(path).catch(() => null);
    if (there !== null && !there.isSymbolicLink()) continue;
    if (there !== null && (await readlink(path)) === blob) continue;
    if (there !== null) await unlink(path);
    await symlink(blob, path);
  }
}
