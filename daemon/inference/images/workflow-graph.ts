import { filledWorkflow } from '../../contract/workflow.ts';
import type { Drawing } from './drawing.ts';
import {
  GRAPHS,
  type Graph,
  type GraphNode,
  IDS,
  type Link,
  OUTPUT,
  type Placeholder,
  SAMPLER,
} from './graphs.ts';

/** The installed files of one model, by the engine's names. */
export interface Weights {
  /** A complete model, or only the diffusion model. */
  readonly by: 'checkpoint' | 'diffusion-model';
  readonly file: string;
  /** Text encoders by input of their loader; null for those of the checkpoint. */
  readonly encoders: Readonly<Record<string, string>> | null;
  /** Null for the decoder of the checkpoint. */
  readonly vae: string | null;
}

const node = (class_type: string, inputs: GraphNode['inputs']): GraphNode => ({ class_type, inputs });
const from = (id: string, output = 0): Link => [id, output];

interface Sources {
  readonly nodes: Graph;
  readonly model: Link;
  readonly clip: Link;
  readonly vae: Link;
}

/** Quantised models need the loader of the custom node ComfyUI-GGUF. */
const diffusionModelLoader = (file: string): GraphNode =>
  /\.gguf$/i.test(file)
    ? node('UnetLoaderGGUF', { unet_name: file })
    : node('UNETLoader', { unet_name: file, weight_dtype: 'default' });

function loaders({ model }: Drawing, { by, file, encoders, vae }: Weights): Sources {
  const whole = by === 'checkpoint';
  const family = model.encoders;
  return {
    nodes: {
      ...(whole
        ? { [IDS.checkpoint]: node('CheckpointLoaderSimple', { ckpt_name: file }) }
        : { [IDS.diffusionModel]: diffusionModelLoader(file) }),
      ...(encoders &&
        family && {
          [IDS.encoders]: node(family.node, {
            ...encoders,
            ...(family.type === null ? {} : { type: family.type }),
          }),
        }),
      ...(vae === null ? {} : { [IDS.vae]: node('VAELoader', { vae_name: vae }) }),
    },
    model: from(whole ? IDS.checkpoint : IDS.diffusionModel),
    clip: encoders ? from(IDS.encoders) : from(IDS.checkpoint, 1),
    vae: vae === null ? from(IDS.checkpoint, 2) : from(IDS.vae),
  };
}

/** Ids of the LoRA nodes: the first is this number. */
const FIRST_LORA = 20;

/** Adds the LoRAs of the slot file in their order, then the skipped layers of the text encoder. */
function adapted({ nodes, model, clip, vae }: Sources, { model: { options } }: Drawing): Sources {
  const added: Record<string, GraphNode> = { ...nodes };
  let [lastModel, lastClip] = [model, clip];
  for (const [index, { name, strength }] of (options?.loras ?? []).entries()) {
    const id = String(FIRST_LORA + index);
    const strengths = { strength_model: strength, strength_clip: strength };
    added[id] = node('LoraLoader', { model: lastModel, clip: lastClip, lora_name: name, ...strengths });
    [lastModel, lastClip] = [from(id, 0), from(id, 1)];
  }
  if (options?.clipSkip != null) {
    added[IDS.clipSkip] = node('CLIPSetLastLayer', { clip: lastClip, stop_at_clip_layer: -options.clipSkip });
    lastClip = from(IDS.clipSkip);
  }
  return { nodes: added, model: lastModel, clip: lastClip, vae };
}

/** Returns a template with its placeholders replaced. Values are not searched for placeholders. Pure. */
export function filled(template: Graph, values: Readonly<Record<Placeholder, unknown>>): Graph {
  const replaced = (value: unknown): unknown => {
    const name = typeof value === 'string' ? /^\{(\w+)\}$/.exec(value)?.[1] : undefined;
    return name === undefined ? value : values[name as Placeholder];
  };
  return Object.fromEntries(
    Object.entries(template).map(([id, { class_type, inputs }]) => [
      id,
      node(
        class_type,
        Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, replaced(value)])),
      ),
    ]),
  );
}

/**
 * Returns the workflow that draws `drawing` from these files (docs/spec/specification.md#images). Pure. The
 * pictures come from a preview node: the engine holds them until its next start and does not mix them with
 * its owner's pictures.
 */
export function workflowGraph(drawing: Drawing, weights: Weights): Graph {
  const { family } = drawing.model;
  if (family === 'workflow') throw new Error('a workflow of the owner is not built');
  const { nodes, model, clip, vae } = adapted(loaders(drawing, weights), drawing);
  const { prompt, negativePrompt, seed, steps, cfg, width, height, count } = drawing;
  const { sampler, scheduler } = drawing.model;
  return {
    ...nodes,
    ...filled(GRAPHS[family], {
      ...{ prompt, negative: negativePrompt, seed, steps, cfg, width, height, count },
      ...{ sampler, scheduler, model, clip },
    }),
    [IDS.decode]: node('VAEDecode', { samples: from(SAMPLER), vae }),
    [OUTPUT]: node('PreviewImage', { images: from(IDS.decode) }),
  };
}

/** Returns the owner's workflow with the settings of the request; null for a model without one. Pure. */
export function ownerGraph({ model, requested, ...drawing }: Drawing): Graph | null {
  if (model.workflow === undefined) return null;
  const { prompt, negativePrompt, seed, steps, cfg, width, height, count } = drawing;
  const values = { negative_prompt: negativePrompt, steps, cfg, width, height };
  return filledWorkflow(model.workflow, {
    ...{ prompt, seed, n: count },
    ...Object.fromEntries(Object.entries(values).filter(([name]) => requested?.has(name))),
  });
}
