import type { GatewayEvents } from '../contract/events.ts';
import type { Bus } from '../kit/bus.ts';
import type { Log } from '../kit/log.ts';
import type { Store } from '../store/store.ts';
import { fromRow, type RegisteredModel, toRow } from './registered-model.ts';

const same = (a: RegisteredModel, b: RegisteredModel) => JSON.stringify(a) === JSON.stringify(b);

/** What a new look at the file of a model does not change. */
const staying = (old: RegisteredModel): Partial<RegisteredModel> => ({
  created: old.created,
  binding: old.binding,
  projector: old.projector,
  projectorPath: old.projectorPath,
  projectorBytes: old.projectorBytes,
  ...(old.thinkingChosen ? { thinkingChosen: true, enable_thinking: old.enable_thinking } : {}),
});

/** The models that are known, in memory first: a store that fails costs their memory over a restart and nothing else. */
export class Shelf {
  readonly #models = new Map<string, RegisteredModel>();
  readonly #rows: Store['models'];
  readonly #bus: Bus<GatewayEvents>;
  readonly #log: Log;
  #sorted: readonly RegisteredModel[] | null = null;

  constructor(rows: Store['models'], bus: Bus<GatewayEvents>, log: Log) {
    this.#rows = rows;
    this.#bus = bus;
    this.#log = log;
    for (const row of this.#try(() => rows.all()) ?? []) {
      const model = fromRow(row);
      if (model !== null) this.#models.set(model.id, model);
    }
  }

  /** All models by id. The same array until something changes. */
  list(): readonly RegisteredModel[] {
    this.#sorted ??= [...this.#models.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#sorted;
  }

  get(id: string): RegisteredModel | undefined {
    return this.#models.get(id);
  }

  byPath(path: string): RegisteredModel | undefined {
    return this.list().find((model) => model.files.includes(path));
  }

  /** Adds a model or replaces the one with its id, of which stays what was chosen for it. */
  put(model: RegisteredModel): RegisteredModel {
    const old = this.#models.get(model.id);
    const next = old === undefined ? model : { ...model, ...staying(old) };
    if (old !== undefined && same(old, next)) return old;
    this.#models.set(next.id, next);
    this.#sorted = null;
    this.#try(() => this.#rows.upsert(toRow(next, this.#rows.get(next.id))));
    this.#bus.emit('model', { id: next.id, change: old === undefined ? 'added' : 'changed' });
    return next;
  }

  /** Changes what was chosen for a model; undefined when there is no such model. */
  change(id: string, change: Partial<RegisteredModel>): RegisteredModel | undefined {
    const model = this.#models.get(id);
    if (model === undefined) return undefined;
    const next = { ...model, ...change };
    if (same(model, next)) return model;
    this.#models.set(id, next);
    this.#sorted = null;
    this.#try(() => this.#rows.upsert(toRow(next, this.#rows.get(id))));
    this.#bus.emit('model', { id, change: 'changed' });
    return next;
  }

  remove(id: string): void {
    if (!this.#models.delete(id)) return;
    this.#sorted = null;
    this.#try(() => this.#rows.remove(id));
    this.#bus.emit('model', { id, change: 'removed' });
  }

  #try<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#log.warn({ reason: (error as Error).message }, 'model registry: the store did not take part');
      return null;
    }
  }
}
