import type { ImageModel } from '../../models/images/curated.ts';
import type { PartFile } from '../../models/images/families.ts';
import type { Weights } from './workflow-graph.ts';

/** Returns the file names that the engine lists for one kind; null when it does not report them. */
export type ListInstalled = (kind: keyof typeof LOADER_INPUTS) => Promise<readonly string[] | null>;

/** The node and input whose values are the installed files of a kind. */
export const LOADER_INPUTS = {
  checkpoint: ['CheckpointLoaderSimple', 'ckpt_name'],
  diffusionModel: ['UNETLoader', 'unet_name'],
  // Of the custom node ComfyUI-GGUF.
  gguf: ['UnetLoaderGGUF', 'unet_name'],
  encoder: ['CLIPLoader', 'clip_name'],
  vae: ['VAELoader', 'vae_name'],
} as const;

const base = (path: string): string => (path.split(/[\\/]/).at(-1) ?? '').toLowerCase();

/** Returns the first of `wanted` that is installed in any folder; without a list, the first. */
function pick(wanted: readonly string[], installed: readonly string[] | null): string | null {
  if (installed === null) return wanted[0] ?? null;
  for (const name of wanted) {
    const found =
      installed.find((each) => each === name) ?? installed.find((each) => base(each) === base(name));
    if (found !== undefined) return found;
  }
  return null;
}

const pickPart = ({ names, pattern }: PartFile, installed: readonly string[] | null): string | null =>
  pick(names, installed) ?? installed?.find((each) => pattern.test(base(each))) ?? null;

/** Returns the text encoders of a family; null when one is not installed. */
async function encodersOf({ encoders }: ImageModel, list: ListInstalled) {
  if (encoders === null) return null;
  const installed = await list('encoder');
  const found = Object.entries(encoders.files).map(
    ([input, part]) => [input, pickPart(part, installed)] as const,
  );
  if (found.some(([, file]) => file === null)) return null;
  return Object.fromEntries(found) as Record<string, string>;
}

/** Returns the files of a model: the complete one if installed, else its parts; null when neither is. */
export async function chooseWeights(model: ImageModel, list: ListInstalled): Promise<Weights | null> {
  const { checkpoints, diffusionModels, encoders, vae, options } = model;
  const checkpoint = checkpoints.length === 0 ? null : pick(checkpoints, await list('checkpoint'));
  if (checkpoint !== null) {
    // The published checkpoints of this family exist with and without text encoders.
    const separate = encoders?.node === 'TripleCLIPLoader' && (await list('encoder')) !== null;
    const found = separate ? await encodersOf(model, list) : null;
    return { by: 'checkpoint', file: checkpoint, encoders: found, vae: options?.vae ?? null };
  }
  if (diffusionModels.length === 0 || encoders === null) return null;
  const [plain, quantised, text, decoders] = await Promise.all([
    list('diffusionModel'),
    list('gguf'),
    encodersOf(model, list),
    list('vae'),
  ]);
  const file = pick(diffusionModels, plain === null ? null : [...plain, ...(quantised ?? [])]);
  const decoder = options?.vae ?? (vae === null ? null : pickPart(vae, decoders));
  if (file === null || text === null || decoder === null) return null;
  return { by: 'diffusion-model', file, encoders: text, vae: decoder };
}
