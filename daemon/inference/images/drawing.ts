import type { ImageModel } from '../../models/images/curated.ts';

/** A validated image request. */
export interface Drawing {
  readonly model: ImageModel;
  readonly prompt: string;
  readonly negativePrompt: string;
  /** Number of images. */
  readonly count: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** A safe integer from 0. */
  readonly seed: number;
  readonly steps: number;
  readonly cfg: number;
  /** Settings that the request or the slot file names; a workflow of the owner keeps its values for the others. */
  readonly requested?: ReadonlySet<string>;
}

/** Request parameters beyond OpenAI's (docs/spec/specification.md#images). */
export const EXTRAS = ['seed', 'steps', 'cfg', 'negative_prompt'] as const;
export type Extra = (typeof EXTRAS)[number];

/** Returns the caller's parameters that this model does not support. */
export function ignoredExtras({ takes }: ImageModel, requested: ReadonlySet<Extra>): Extra[] {
  const unsupported = { seed: false, steps: false, cfg: !takes.cfg, negative_prompt: !takes.negative };
  return EXTRAS.filter((name) => requested.has(name) && unsupported[name]);
}
