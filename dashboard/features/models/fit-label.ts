import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { byteSize, count } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';
import { listed } from '../shared/forecast.ts';

export interface FitLabel {
  tone: Tone;
  word: string;
  /** The reason, in one or two sentences. */
  text: string;
}

const poolName = (pool: string | null): string => (pool === 'host' ? 'RAM' : `GPU memory ${pool}`);

/** Needed and available memory; empty when unknown. */
function sum({ needed, free, pool }: ModelFitView): string {
  if (needed === null || free === null) return '';
  return ` Needs about ${byteSize(needed)}; ${byteSize(free)} of ${poolName(pool)} available.`;
}

/** What stays on the CPU with another engine; empty when nothing does. */
function experts({ cpu_experts: placed }: ModelFitView): string {
  if (placed === null) return '';
  const layers = placed.layers === placed.of ? 'all layers' : `${placed.layers} of ${placed.of} layers`;
  return ` With the engine ${placed.engine}, the GPU can run it: the experts of ${layers} (${byteSize(placed.bytes)}) stay in RAM.`;
}

const contextOf = (fit: ModelFitView): string =>
  fit.context === null ? '' : ` with a context of ${count(fit.context)} tokens`;

/** Label and explanation of the fit badge: the decision of admission at this moment. */
export function fitLabel(fit: ModelFitView): FitLabel {
  const labels: Record<ModelFitView['badge'], () => FitLabel> = {
    fits: () => ({ tone: 'ok', word: 'Fits', text: `Fits${contextOf(fit)}.${sum(fit)}` }),
    fits_with_context: () => ({
      tone: 'attention',
      word: `Fits with ${count(fit.context ?? 0)} tokens`,
      text: `Only fits with a smaller context.${sum(fit)}`,
    }),
    needs_eviction: () => ({
      tone: 'attention',
      word: fit.evicts.length === 0 ? 'Waiting for memory' : `Will unload ${listed(fit.evicts)}`,
      text:
        fit.evicts.length === 0
          ? `It loads as soon as enough memory is freed.${sum(fit)}`
          : `Loading it will unload ${listed(fit.evicts)}.${sum(fit)}`,
    }),
    does_not_fit: () => ({
      tone: 'failed',
      word: 'Does not fit',
      text: `It does not fit, even after unloading everything else.${sum(fit)}`,
    }),
    unknown: () => ({
      tone: 'idle',
      word: 'Unknown',
      text: 'Another program loads this model, so its memory use is unknown.',
    }),
  };
  const label = labels[fit.badge]();
  return { ...label, text: `${label.text}${experts(fit)}` };
}
