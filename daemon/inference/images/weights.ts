import type { CuratedModel } from './curated.ts';
import type { Weights } from './workflow-graph.ts';

/** Returns the file names that the engine lists for one kind; null when it does not report them. */
export type ListInstalled = (kind: keyof typeof LOADER_INPUTS) => Promise<readonly string[] | null>;

/** The node and input whose values are the installed files of a kind. */
export const LOADER_INPUTS = {
  checkpoint: ['CheckpointLoaderSimple', 'ckpt_name'],
  unet: ['UNETLoader', 'unet_name'],
  t5: ['DualCLIPLoader', 'clip_name1'],
  clip: ['DualCLIPLoader', 'clip_name2'],
  vae: ['VAELoader', 'vae_name'],
} as const;

const base = (path: string): string => (path.split(/[\\/]/).at(-1) ?? '').toLowerCase();

/** Returns the first of `wanted` that is installed in any folder; without a list, the first. */
function pick(wanted: readonly string[], installed: readonly string[] | null): string | null {
  if (installed === null) return wanted[0] ?? null;
  for (const name of wanted) {
    const found = installed.find((each) => base(each) === base(name));
    if (found !== undefined) return found;
  }
  return null;
}

/** Returns the files of a model: the complete one if installed, else its parts; null when neither is. */
export async function chooseWeights(
  { checkpoints, split }: CuratedModel,
  installed: ListInstalled,
): Promise<Weights | null> {
  const checkpoint = pick(checkpoints, await installed('checkpoint'));
  if (checkpoint !== null) return { by: 'checkpoint', checkpoint };
  if (split === null) return null;
  const [unet, t5, clip, vae] = await Promise.all(
    (['unet', 't5', 'clip', 'vae'] as const).map(async (kind) => pick(split[kind], await installed(kind))),
  );
  return unet && t5 && clip && vae ? { by: 'split', unet, t5, clip, vae } : null;
}
