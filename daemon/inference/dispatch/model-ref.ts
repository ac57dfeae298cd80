import type { ConfiguredName } from './configured-names.ts';

/** The model reference of a request before dispatch: the `model` field and the result of the rewrites. */
export interface ModelRef {
  /** The name as the caller wrote it; null when omitted. */
  readonly requested: string | null;
  /** The id to resolve; null while only a slot is known that has no model yet. */
  readonly model: string | null;
  /** Lane pin: the slot that the caller named. */
  readonly lane: string | null;
  /** Slots to try after the lane when it has no memory, in order. */
  readonly chain: readonly string[];
  /** The rule that changed the name; null for an unchanged name. */
  readonly by: 'slot-alias' | 'npu-suffix' | 'virtual-name' | 'model-omitted' | null;
  /** The alias or preset of config.toml that the name was; null or absent for none. */
  readonly alias?: ConfiguredName | null;
}

/** Returns the reference of a model id that no rule has changed. */
export const plainModelRef = (requested: string | null): ModelRef => ({
  requested,
  model: requested,
  lane: null,
  chain: [],
  by: null,
});
