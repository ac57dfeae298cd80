import type { ExpertWeights } from '../../models/gguf-metadata.ts';
import type { SlotConfig } from '../config/slot-config.ts';

/** Experts of a mixture of experts that stay on the host (docs/spec/contract.md#experts-on-the-cpu). */
export interface ExpertPlacement {
  /** Number of layers, counted from the first. */
  readonly layers: number;
  /** Bytes of their experts. */
  readonly bytes: number;
}

/** Arguments of llama-server that place tensors; the slot file then decides alone. */
const OWN_PLACEMENT =
  /^(-cmoe|--cpu-moe|-ncmoe|--n-cpu-moe|-ot|--override-tensor|-ngl|--gpu-layers|--n-gpu-layers)(=|$)/;

export const placesTensors = ({ extraArgs }: Pick<SlotConfig, 'extraArgs'>): boolean =>
  extraArgs.some((word) => OWN_PLACEMENT.test(word));

/** Returns the placement of so many layers. */
export function placementOf(experts: ExpertWeights, layers: number): ExpertPlacement {
  const moved = Math.min(layers, experts.layers);
  return { layers: moved, bytes: Math.ceil((experts.bytes * moved) / experts.layers) };
}

/** Returns the placement that the slot file requests. Null when admission chooses. */
export function requestedPlacement(
  { cpuMoe, nCpuMoe }: Pick<SlotConfig, 'cpuMoe' | 'nCpuMoe'>,
  experts: ExpertWeights,
): ExpertPlacement | null {
  if (nCpuMoe !== null) return placementOf(experts, nCpuMoe);
  return cpuMoe === null ? null : placementOf(experts, cpuMoe ? experts.layers : 0);
}

/** The memory that decides on a placement, in bytes. */
export interface PlacementMemory {
  /** What the model needs on the card with all experts. */
  readonly needed: number;
  /** What a load may use of the card when no other slot is loaded there. */
  readonly cardBytes: number;
  /** What the host has for experts. */
  readonly hostBytes: number;
}

/**
 * Returns the smallest placement with which a model fits the card. Null when it fits whole, or when neither card nor
 * host has the memory. Pure.
 */
export function smallestPlacement(
  experts: ExpertWeights,
  { needed, cardBytes, hostBytes }: PlacementMemory,
): ExpertPlacement | null {
  const missing = needed - cardBytes;
  if (missing <= 0 || missing > experts.bytes) return null;
  const placement = placementOf(experts, Math.ceil((missing * experts.layers) / experts.bytes));
  return placement.bytes <= hostBytes ? placement : null;
}
