import { dirname, isAbsolute } from 'node:path';
import type { GatewayEvents } from '../../contract/events.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import { MountGuard } from '../../lib/fs/mount-guard.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { ImageModel } from '../../models/images/curated.ts';
import type { ImageFamily } from '../../models/images/families.ts';
import { familyOfFile } from '../../models/images/family-of-tensors.ts';
import type { Slots } from '../../slots/slots.ts';
import { ComfyClient } from './comfy-client.ts';
import { requestSender } from './engine-request.ts';
import { familyVariant, installedModels } from './installed-models.ts';
import { FILE_ENGINE, modelOfFile } from './own-model.ts';
import type { ReportedModels } from './resolve-model.ts';

export interface AvailableModelsDeps {
  readonly slots: Pick<Slots, 'ensureReady' | 'get' | 'config'>;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly bus: Pick<EventBus<GatewayEvents>, 'subscribe'>;
  /** Guards reads on disks that may not respond; default: a separate one. */
  readonly mountGuard?: MountGuard | undefined;
}

/** The engine that draws with all models in its own folders. */
const MULTI_MODEL_ENGINE = 'comfyui';
/** States in which the file of a slot may have changed since it was read. */
const UNLOADED: ReadonlySet<string> = new Set(['offline', 'error']);
/** Age after which the files of a loaded engine are listed again, when the slot changes its state. */
const MAX_AGE_MS = 300_000;

const isIdle = ({ state, active, queued }: SlotRecord): boolean =>
  state === 'ready' && active === 0 && queued === 0;

/**
 * The models that image slots can draw with. An engine is queried for its files after each load, when no request
 * waits for it, and again after five minutes. The result stays valid while the engine is unloaded, so that listing
 * models queries no engine (docs/spec/contract.md#model-list).
 */
export class AvailableModels implements ReportedModels {
  readonly #deps: AvailableModelsDeps;
  readonly #known = new Map<string, readonly ImageModel[]>();
  /** `performance.now()` of the last query of each slot since its load. */
  readonly #queriedAt = new Map<string, number>();
  readonly #mountGuard: MountGuard;
  readonly #control = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(options: AvailableModelsDeps) {
    this.#deps = options;
    this.#mountGuard = options.mountGuard ?? new MountGuard();
    this.#unsubscribe = options.bus.subscribe(({ name, payload }) => {
      if (name === 'slot_removed') this.#forget((payload as GatewayEvents['slot_removed']).name);
      if (name === 'slot') this.#onSlotChange((payload as GatewayEvents['slot']).slot);
    });
  }

  of(slot: string): readonly ImageModel[] {
    return this.#known.get(slot) ?? [];
  }

  isKnown(slot: string): boolean {
    return this.#known.has(slot);
  }

  /**
   * Reads the header of the file that a slot names, or loads the slot and queries its engine. Rejects with the errors of
   * the load or the reason of the signal.
   */
  discover(slot: string, signal: AbortSignal): Promise<void> {
    return this.#deps.slots.get(slot)?.engine === FILE_ENGINE
      ? this.#readFile(slot)
      : this.#query(slot, signal);
  }

  close(): void {
    this.#unsubscribe();
    this.#control.abort();
  }

  #forget(slot: string): void {
    this.#known.delete(slot);
    this.#queriedAt.delete(slot);
  }

  #onSlotChange(slot: SlotRecord): void {
    const isFile = slot.engine === FILE_ENGINE;
    if (isFile ? UNLOADED.has(slot.state) : slot.engine !== MULTI_MODEL_ENGINE) this.#forget(slot.name);
    if (UNLOADED.has(slot.state)) this.#queriedAt.delete(slot.name);
    if (slot.engine !== MULTI_MODEL_ENGINE || this.#isRecent(slot.name) || !isIdle(slot)) return;
    const now = this.#deps.slots.get(slot.name);
    if (now === undefined || !isIdle(now)) return;
    this.#queriedAt.set(slot.name, performance.now());
    this.#query(slot.name, this.#control.signal).catch(() => this.#queriedAt.delete(slot.name));
  }

  #isRecent(slot: string): boolean {
    const at = this.#queriedAt.get(slot);
    return at !== undefined && performance.now() - at < MAX_AGE_MS;
  }

  /**
   * The family of a file is in its header. A file that says nothing leaves it to the name. So does a disk that does not
   * respond, until the next request.
   */
  async #readFile(slot: string): Promise<void> {
    const id = this.#deps.slots.get(slot)?.model ?? null;
    const path = this.#deps.slots.config(slot)?.model ?? '';
    const family = id !== null && isAbsolute(path) ? await this.#familyOf(path) : null;
    // The slot may have another model by now.
    if (family === undefined || (this.#deps.slots.get(slot)?.model ?? null) !== id) return;
    const found =
      id === null || family === null
        ? []
        : [modelOfFile(id, { family: familyVariant(family, id), source: 'header' })];
    this.#known.set(slot, found);
  }

  /** Returns the family of a file; null when it says nothing, undefined when its disk does not respond. */
  #familyOf(path: string): Promise<ImageFamily | null | undefined> {
    return this.#mountGuard.run(dirname(path), () => familyOfFile(path)).catch(() => undefined);
  }

  async #query(slot: string, signal: AbortSignal): Promise<void> {
    const { slots, outbound } = this.#deps;
    const lease = await slots.ensureReady(slot, { signal, stream: false, priority: 'batch' });
    try {
      const client = new ComfyClient(
        requestSender(outbound, { origin: lease.origin, headers: lease.headers, connectMs: null }),
      );
      this.#known.set(slot, await installedModels(client, lease.origin, signal));
    } finally {
      lease.release();
    }
  }
}
