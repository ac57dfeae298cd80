import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { count, gib } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';
import { listed } from '../shared/forecast.ts';

export interface FitLook {
  tone: Tone;
  word: string;
  /** The whole reason, in one or two sentences. */
  text: string;
}

const poolName = (pool: string | null): string =>
  pool === 'host' ? "the machine's memory" : `memory ${pool}`;

/** What it needs and what is there; empty when nobody knows. */
function sum({ needed, free, pool }: ModelFitView): string {
  if (needed === null || free === null) return '';
  return ` It needs about ${gib(needed)}; ${gib(free)} of ${poolName(pool)} can be had now.`;
}

const windowOf = (fit: ModelFitView): string =>
  fit.context === null ? '' : ` with a window of ${count(fit.context)} tokens`;

/** The badge of a model in words: what admission would decide at this moment, and why. */
export function fitLook(fit: ModelFitView): FitLook {
  const looks: Record<ModelFitView['badge'], () => FitLook> = {
    fits: () => ({ tone: 'ok', word: 'Fits', text: `It loads at once${windowOf(fit)}.${sum(fit)}` }),
    fits_with_context: () => ({
      tone: 'attention',
      word: `Fits with ${count(fit.context ?? 0)} tokens`,
      text: `There is no room for its usual window, but it loads at once${windowOf(fit)}.${sum(fit)}`,
    }),
    needs_eviction: () => ({
      tone: 'attention',
      word: fit.evicts.length === 0 ? 'Has to wait' : `Needs eviction of ${listed(fit.evicts)}`,
      text:
        fit.evicts.length === 0
          ? `It loads as soon as memory that is being freed is there.${sum(fit)}`
          : `It loads once ${listed(fit.evicts)} ${fit.evicts.length > 1 ? 'have' : 'has'} been unloaded.${sum(fit)}`,
    }),
    does_not_fit: () => ({
      tone: 'failed',
      word: 'Does not fit',
      text: `It does not fit, whoever is unloaded for it.${sum(fit)}`,
    }),
    unknown: () => ({
      tone: 'idle',
      word: 'Not known',
      text: 'Another program loads this model, and only that program knows what it needs.',
    }),
  };
  return looks[fit.badge]();
}
