import type { GatewayEvents } from '../../contract/events.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { Slots } from '../../slots/slots.ts';
import { ComfyClient } from './comfy-client.ts';
import { CURATED } from './curated.ts';
import { requestSender } from './engine-request.ts';
import { chooseWeights, type ListInstalled, LOADER_INPUTS } from './weights.ts';

export interface AvailableModelsDeps {
  readonly slots: Pick<Slots, 'ensureReady' | 'get'>;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly bus: Pick<EventBus<GatewayEvents>, 'subscribe'>;
}

/** Engines that draw with all models in their own folders. */
const MULTI_MODEL_ENGINE = 'comfyui';

const isIdle = ({ state, active, queued }: SlotRecord): boolean =>
  state === 'ready' && active === 0 && queued === 0;

/**
 * The curated models that image slots can draw. An engine is queried for its files once after each load, when
 * no request waits for it. The result stays valid while the engine is unloaded, so that listing models
 * queries no engine (docs/spec/contract.md#model-list).
 */
export class AvailableModels {
  readonly #deps: AvailableModelsDeps;
  readonly #known = new Map<string, readonly string[]>();
  /** Slots that were queried since their load. */
  readonly #queried = new Set<string>();
  readonly #control = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(options: AvailableModelsDeps) {
    this.#deps = options;
    this.#unsubscribe = options.bus.subscribe(({ name, payload }) => {
      if (name === 'slot_removed') this.#forget((payload as GatewayEvents['slot_removed']).name);
      if (name === 'slot') this.#onSlotChange((payload as GatewayEvents['slot']).slot);
    });
  }

  /** Returns the ids of curated models that the slot's engine has reported. */
  of(slot: string): readonly string[] {
    return this.#known.get(slot) ?? [];
  }

  close(): void {
    this.#unsubscribe();
    this.#control.abort();
  }

  #forget(slot: string): void {
    this.#known.delete(slot);
    this.#queried.delete(slot);
  }

  #onSlotChange(slot: SlotRecord): void {
    if (slot.engine !== MULTI_MODEL_ENGINE) this.#forget(slot.name);
    if (slot.state === 'offline' || slot.state === 'error') this.#queried.delete(slot.name);
    if (slot.engine !== MULTI_MODEL_ENGINE || this.#queried.has(slot.name) || !isIdle(slot)) return;
    const now = this.#deps.slots.get(slot.name);
    if (now === undefined || !isIdle(now)) return;
    this.#queried.add(slot.name);
    this.#query(slot.name).catch(() => this.#queried.delete(slot.name));
  }

  async #query(slot: string): Promise<void> {
    const { slots, outbound } = this.#deps;
    const { signal } = this.#control;
    const lease = await slots.ensureReady(slot, { signal, stream: false, priority: 'batch' });
    try {
      const client = new ComfyClient(
        requestSender(outbound, { origin: lease.origin, headers: lease.headers, connectMs: null }),
      );
      const installed: ListInstalled = async (kind) => {
        const [node, input] = LOADER_INPUTS[kind];
        return (await client.choices(node, input, signal)) ?? [];
      };
      const found: string[] = [];
      for (const model of CURATED) if ((await chooseWeights(model, installed)) !== null) found.push(model.id);
      this.#known.set(slot, found);
    } finally {
      lease.release();
    }
  }
}
