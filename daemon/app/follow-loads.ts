import type { Registry } from '../models/registry.ts';
import type { Slots } from '../slots/slots-api.ts';

const AGENT = 'agent';

/**
 * Records which models load and which fail, so that slot `agent` keeps the model that serves it and never takes one that
 * fails (docs/spec/contract.md#agent-stable).
 */
export function followLoads(
  slots: Pick<Slots, 'onEvent' | 'config'>,
  registry: Pick<Registry, 'recordLoad'>,
): void {
  slots.onEvent(({ slot, model, kind }) => {
    const isAutomatic = slot === AGENT && slots.config(slot)?.model === null;
    if (kind === 'loaded') registry.recordLoad(model, 'loaded', isAutomatic);
    if (kind === 'load_failed') registry.recordLoad(model, 'failed', false);
  });
}
