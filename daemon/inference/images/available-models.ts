import type { GatewayEvents } from '../../contract/events.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { Slots } from '../../slots/slots.ts';
import { askAt } from './ask.ts';
import { ComfyClient } from './comfy-client.ts';
import { CURATED } from './curated.ts';
import { chooseWeights, type Installed, PLACES } from './weights.ts';

export interface RepertoireOptions {
  readonly slots: Pick<Slots, 'ensureReady' | 'get'>;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly bus: Pick<EventBus<GatewayEvents>, 'subscribe'>;
}

/** Engines that draw with whatever is installed in their own folders. */
const MANY = 'comfyui';

const isAtRest = ({ state, active, queued }: SlotRecord): boolean =>
  state === 'ready' && active === 0 && queued === 0;

/**
 * The curated models that image slots can draw. An engine is queried for its files once after each load, when
 * no request waits for it. The result stays valid while the engine is unloaded, so that listing models
 * queries no engine (docs/spec/contract.md#model-list).
 */
export class Repertoire {
  readonly #options: RepertoireOptions;
  readonly #known = new Map<string, readonly string[]>();
  /** Slots that were asked since their load. */
  readonly #asked = new Set<string>();
  readonly #control = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(options: RepertoireOptions) {
    this.#options = options;
    this.#unsubscribe = options.bus.subscribe(({ name, payload }) => {
      if (name === 'slot_removed') this.#forget((payload as GatewayEvents['slot_removed']).name);
      if (name === 'slot') this.#look((payload as GatewayEvents['slot']).slot);
    });
  }

  /** Ids of curated models, as far as the slot's engine has told. */
  of(slot: string): readonly string[] {
    return this.#known.get(slot) ?? [];
  }

  close(): void {
    this.#unsubscribe();
    this.#control.abort();
  }

  #forget(slot: string): void {
    this.#known.delete(slot);
    this.#asked.delete(slot);
  }

  #look(slot: SlotRecord): void {
    if (slot.engine !== MANY) this.#forget(slot.name);
    if (slot.state === 'offline' || slot.state === 'error') this.#asked.delete(slot.name);
    if (slot.engine !== MANY || this.#asked.has(slot.name) || !isAtRest(slot)) return;
    const now = this.#options.slots.get(slot.name);
    if (now === undefined || !isAtRest(now)) return;
    this.#asked.add(slot.name);
    this.#learn(slot.name).catch(() => this.#asked.delete(slot.name));
  }

  async #learn(slot: string): Promise<void> {
    const { slots, outbound } = this.#options;
    const { signal } = this.#control;
    const lease = await slots.ensureReady(slot, { signal, stream: false, priority: 'batch' });
    try {
      const client = new ComfyClient(
        askAt(outbound, { origin: lease.origin, headers: lease.headers, connectMs: null }),
      );
      const installed: Installed = async (kind) => {
        const [node, input] = PLACES[kind];
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
