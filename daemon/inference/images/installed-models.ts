import { dirname, isAbsolute, join } from 'node:path';
import { remoteHostOf } from '../../lib/net/remote-host.ts';
import { CURATED, type ImageModel, isWeightFile } from '../../models/images/curated.ts';
import { familyByName, type ImageFamily } from '../../models/images/families.ts';
import { familyOfFile, familyOfMetadata } from '../../models/images/family-of-tensors.ts';
import type { ComfyClient } from './comfy-client.ts';
import { assumedModel, isNamed, modelOfFile } from './own-model.ts';
import { chooseWeights, type ListInstalled, LOADER_INPUTS } from './weights.ts';

/** Maximum files of one kind that are examined; a folder with more is listed up to this number. */
const MAX_FILES = 500;

/** Where ComfyUI keeps the files of a kind. */
const FOLDERS = {
  checkpoint: 'checkpoints',
  diffusionModel: 'diffusion_models',
  gguf: 'diffusion_models',
} as const;
type FileKind = keyof typeof FOLDERS;

/**
 * Returns the folder of ComfyUI's models from the arguments of its process; null when they do not name it absolutely
 * or the process may run on another machine.
 */
export function modelsFolder(origin: string, argv: readonly string[]): string | null {
  if (remoteHostOf(origin) !== null) return null;
  const named = argv[argv.indexOf('--base-directory') + 1];
  const base = argv.includes('--base-directory') ? named : dirname(argv[0] ?? '');
  return base !== undefined && isAbsolute(base) ? join(base, 'models') : null;
}

/**
 * Returns what an engine can draw: the built-in models whose files it has, and every other checkpoint and diffusion
 * model that it lists. The family of a file comes from its header, its metadata or its name, in this order.
 */
export async function installedModels(
  client: ComfyClient,
  origin: string,
  signal: AbortSignal,
): Promise<ImageModel[]> {
  const lists = new Map<string, Promise<readonly string[]>>();
  const installed: ListInstalled = (kind) => {
    const known = lists.get(kind);
    if (known !== undefined) return known;
    const [node, input] = LOADER_INPUTS[kind];
    const list = client.choices(node, input, signal).then((names) => names ?? []);
    lists.set(kind, list);
    return list;
  };
  const found: ImageModel[] = [];
  for (const model of CURATED) if ((await chooseWeights(model, installed)) !== null) found.push(model);
  const folder = modelsFolder(origin, await client.arguments(signal));
  const detect = async (file: string, kind: FileKind): Promise<ImageModel | null> => {
    const isDiffusionModel = kind !== 'checkpoint';
    const header = folder === null ? null : await familyOfFile(join(folder, FOLDERS[kind], file));
    if (header !== null)
      return modelOfFile(file, { family: familyVariant(header, file), source: 'header', isDiffusionModel });
    const metadata = familyOfMetadata(await client.metadata(FOLDERS[kind], file, signal));
    if (metadata !== null)
      return modelOfFile(file, {
        family: familyVariant(metadata, file),
        source: 'metadata',
        isDiffusionModel,
      });
    if (!isDiffusionModel) return assumedModel(file);
    const family = familyByName(file);
    return family === null ? null : modelOfFile(file, { family, source: 'name', isDiffusionModel });
  };
  for (const kind of Object.keys(FOLDERS) as FileKind[]) {
    for (const file of ((await installed(kind)) ?? []).slice(0, MAX_FILES)) {
      if (!isWeightFile(file) || found.some((model) => isNamed(model, file))) continue;
      const model = await detect(file, kind);
      if (model !== null && (await chooseWeights(model, installed)) !== null) found.push(model);
    }
  }
  return found;
}

/** The header does not tell the variants of a family apart; the file name may. */
export function familyVariant(family: ImageFamily, file: string): ImageFamily {
  const named = familyByName(file);
  return named?.startsWith(`${family}-`) ? named : family;
}
