import type { SpeculationView } from '../../contract/speculation.ts';
import { gainText, isFasterAhead } from '../../models/ngram-speed.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from './engine.ts';

/**
 * Returns whether a chat slot predicts tokens, and why; undefined for a slot of another type and for an engine that
 * decides on its own.
 */
export function speculationOf(
  { type, engine, runner, speculation }: SlotConfig,
  { id, ngram = null }: Pick<SlotModel, 'id' | 'ngram'>,
): SpeculationView | undefined {
  if (type !== 'llm') return undefined;
  if (speculation !== 'auto')
    return { way: speculation, reason: `The slot file sets speculation = "${speculation}".` };
  if (engine === 'llama-server' && runner !== 'attach')
    return { way: 'off', reason: 'The default of llama-server. speculation of the slot file turns it on.' };
  if (engine !== 'embedded') return undefined;
  if (ngram === null)
    return { way: 'off', reason: `Not measured. svcctl bench ${id} measures whether it is faster.` };
  return isFasterAhead(ngram)
    ? { way: 'ngram', reason: `Faster: ${gainText(ngram)}.` }
    : { way: 'off', reason: `Not faster: ${gainText(ngram)}.` };
}
