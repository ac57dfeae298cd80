import type { GatewayEvents } from '../contract/events.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Registry } from '../models/registry.ts';
import type { Slots } from '../slots/slots-api.ts';

const AGENT = 'agent';

/**
 * Records which models load and which fail, so that slot `agent` keeps the model that serves it and never takes one that
 * fails (docs/spec/contract.md#agent-stable). A model whose folder is away is removed when its slot is unloaded.
 */
export function followLoads(
  slots: Pick<Slots, 'onEvent' | 'config'>,
  registry: Pick<Registry, 'recordLoad' | 'slotChanged'>,
  bus: Pick<EventBus<GatewayEvents>, 'subscribe'>,
): void {
  bus.subscribe(({ name }) => {
    if (name === 'slot') registry.slotChanged();
  });
  slots.onEvent(({ slot, model, kind }) => {
    const isAutomatic = slot === AGENT && slots.config(AGENT)?.model === null;
    if (kind === 'loaded' || kind === 'joined') registry.recordLoad(model, 'loaded', isAutomatic);
    if (kind === 'load_failed') registry.recordLoad(model, 'failed', false);
  });
}

/** States of a slot without an engine. */
const UNLOADED: ReadonlySet<string> = new Set(['offline', 'error']);

/** Returns whether a slot has loaded a model, or is loading it. */
export const isModelLoaded = (slots: Pick<Slots, 'list'>, id: string): boolean =>
  slots.list().some(({ model, state }) => model === id && !UNLOADED.has(state));
