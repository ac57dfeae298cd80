/** Whom a request means, before dispatch: the `model` it named and what the rewrites made of it. */
export interface ModelRef {
  /** As the caller wrote it; null when omitted. */
  readonly requested: string | null;
  /** The id to resolve; null while only a slot is known and that slot has no model yet. */
  readonly model: string | null;
  /** Lane pin: the slot that the caller meant. */
  readonly lane: string | null;
  /** Slots to try after the lane when it has no memory, in order. */
  readonly chain: readonly string[];
  /** The rule that changed the name; null while it stands as the caller wrote it. */
  readonly by: 'slot-alias' | 'npu-suffix' | 'virtual-name' | 'model-omitted' | null;
}

/** The address of a model id that no rule has touched. */
export const plainModelRef = (asked: string | null): ModelRef => ({
  requested: asked,
  model: asked,
  lane: null,
  chain: [],
  by: null,
});
