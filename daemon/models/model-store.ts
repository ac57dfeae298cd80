import type { GatewayEvents } from '../contract/events.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import { type Absence, absenceOf, isPermanent, recordMiss } from './missing-model.ts';
import { fromRow, type RegisteredModel, toRow } from './registered-model.ts';

const same = (a: RegisteredModel, b: RegisteredModel) => JSON.stringify(a) === JSON.stringify(b);

/** Fields that a new read of the model's file does not change. */
const preservedFields = (old: RegisteredModel): Partial<RegisteredModel> => ({
  created: old.created,
  binding: old.binding,
  projector: old.projector,
  projectorPath: old.projectorPath,
  projectorBytes: old.projectorBytes,
  ...(old.thinkingChosen ? { thinkingChosen: true, enable_thinking: old.enable_thinking } : {}),
});

/** A model whose file is missing: a disk that is not mounted, or a folder that is no longer scanned. */
interface Absent {
  readonly model: RegisteredModel;
  readonly absence: Absence;
}

/**
 * Holds the known models in memory and persists them. If persisting fails, only the memory over a restart is
 * lost. An absent model is in no list and serves nothing, but keeps its id, origin and chosen settings until
 * it returns.
 */
export class ModelStore {
  readonly #models = new Map<string, RegisteredModel>();
  readonly #absent = new Map<string, Absent>();
  readonly #now: () => number;
  readonly #rows: Store['models'];
  readonly #bus: EventBus<GatewayEvents>;
  readonly #log: Log;
  #sorted: readonly RegisteredModel[] | null = null;

  constructor(rows: Store['models'], bus: EventBus<GatewayEvents>, log: Log, now: () => number = Date.now) {
    this.#now = now;
    this.#rows = rows;
    this.#bus = bus;
    this.#log = log;
    for (const row of this.#try(() => rows.all()) ?? []) {
      const model = fromRow(row);
      if (model === null) continue;
      const absence = absenceOf(row);
      if (absence === null) this.#models.set(model.id, model);
      else this.#absent.set(model.id, { model, absence });
    }
  }

  /** Returns all models by id. The array is the same until something changes. */
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

  /** Returns all absent models. */
  absent(): readonly RegisteredModel[] {
    return [...this.#absent.values()].map(({ model }) => model);
  }

  /** Adds a model or replaces the one with its id, present or absent. Keeps the chosen settings. */
  put(model: RegisteredModel): RegisteredModel {
    const present = this.#models.get(model.id);
    const old = present ?? this.#absent.get(model.id)?.model;
    const next = old === undefined ? model : { ...model, ...preservedFields(old) };
    if (present !== undefined && same(present, next)) return present;
    this.#absent.delete(next.id);
    this.#models.set(next.id, next);
    this.#sorted = null;
    this.#try(() => this.#rows.upsert(toRow(next, this.#rows.get(next.id))));
    this.#bus.emit('model', { id: next.id, change: present === undefined ? 'added' : 'changed' });
    return next;
  }

  /** Records that a model was searched and not found. Removes it after too many days. */
  markMissing(id: string): void {
    const before = this.#absent.get(id);
    const model = this.#models.get(id) ?? before?.model;
    if (model === undefined) return;
    const absence = recordMiss(before?.absence ?? null, this.#now());
    if (isPermanent(absence)) {
      this.remove(id);
      return;
    }
    if (absence === before?.absence) return;
    this.#absent.set(id, { model, absence });
    this.#try(() => this.#rows.upsert(toRow(model, this.#rows.get(id), absence)));
    if (!this.#models.delete(id)) return;
    this.#sorted = null;
    this.#bus.emit('model', { id, change: 'removed' });
  }

  /** Restores an absent model unchanged. Undefined when it was not absent. */
  restore(id: string): RegisteredModel | undefined {
    const model = this.#absent.get(id)?.model;
    return model && this.put(model);
  }

  /** Changes the chosen settings of a model. Undefined when there is no such model. */
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

  /** Removes a model, present or absent. Returns whether it existed. */
  remove(id: string): boolean {
    const present = this.#models.delete(id);
    if (!this.#absent.delete(id) && !present) return false;
    this.#sorted = null;
    this.#try(() => this.#rows.remove(id));
    if (present) this.#bus.emit('model', { id, change: 'removed' });
    return true;
  }

  #try<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#log.warn({ reason: (error as Error).message }, 'model registry: the database could not be used');
      return null;
    }
  }
}
