import { z } from 'zod';
import { chooseChatModel } from './choose-chat-model.ts';
import type { RegisteredModel } from './registered-model.ts';
import { isEmbeddedChat } from './unusable-formats.ts';

/** Where the choice is stored across restarts. */
export interface ChoiceStore {
  get(key: string): string | null;
  set(key: string, value: string): void;
}

const KEY = 'models.agent';
/** Maximum number of ids that are stored of each kind. */
const MAX_IDS = 4096;

const Stored = z.object({
  /** The model that has served as `agent`, or that the owner chose; null for none yet. */
  model: z.string().nullable(),
  /** Ids that the owner decided against. */
  declined: z.array(z.string()),
  /** Models whose last load failed: id and fingerprint of the file. */
  failed: z.record(z.string(), z.string()),
});
type Stored = z.infer<typeof Stored>;
const NOTHING: Stored = { model: null, declined: [], failed: {} };

const isChat = ({ type, format }: RegisteredModel): boolean => type === 'llm' && format === 'gguf';

/** Identifies the content of a model: a file that was replaced may load. */
const fingerprint = ({ path, sizeBytes, mtimeS }: RegisteredModel): string =>
  `${path} ${sizeBytes} ${mtimeS}`;

function read(text: string | null): Stored {
  try {
    const parsed = Stored.safeParse(JSON.parse(text ?? 'null'));
    return parsed.success ? parsed.data : NOTHING;
  } catch {
    return NOTHING;
  }
}

export interface AgentChoiceDeps {
  readonly store: ChoiceStore;
  models(): readonly RegisteredModel[];
  /** Ids of models that are unavailable now and may come back. */
  absentIds(): readonly string[];
}

/**
 * Which model slot `agent` has when neither its file nor a setting names one. A model that has served stays until
 * the owner decides (docs/spec/contract.md#agent-stable). A model whose last load failed is never chosen while
 * another can be.
 */
export class AgentChoice {
  readonly #deps: AgentChoiceDeps;
  #stored: Stored;

  constructor(deps: AgentChoiceDeps) {
    this.#deps = deps;
    this.#stored = read(deps.store.get(KEY));
  }

  /** Whether a real model has served as `agent`, or the owner chose one. */
  get hasServed(): boolean {
    return this.#stored.model !== null;
  }

  /** Returns the model to load, null for none. `memoryBytes` is what its device has at most; null: unknown. */
  choose(memoryBytes: number | null): RegisteredModel | null {
    const models = this.#deps.models();
    return this.#served(models) ?? this.#best(models, memoryBytes) ?? chooseChatModel(models, memoryBytes);
  }

  /** Returns a larger model that fits and that the owner has not decided about; null for none. */
  offer(memoryBytes: number | null): RegisteredModel | null {
    const models = this.#deps.models();
    const current = this.#served(models);
    if (current === null) return null;
    const best = this.#best(models, memoryBytes);
    const isOffered =
      best !== null &&
      !best.demo &&
      best.sizeBytes > current.sizeBytes &&
      !this.#stored.declined.includes(best.id);
    return isOffered ? best : null;
  }

  /** Makes a model the choice of the owner. Everything else that could be offered now is not offered again. */
  decide(id: string): void {
    const others = this.#deps.models().filter((model) => isEmbeddedChat(model) && model.id !== id);
    this.#change({ model: id, declined: others.map((model) => model.id).slice(-MAX_IDS) });
  }

  /** Records that a model was loaded into a slot, and whether it now serves as `agent` by this choice. */
  loaded(id: string, servesAgent: boolean): void {
    const { [id]: failure, ...failed } = this.#stored.failed;
    const model = this.#deps.models().find((each) => each.id === id);
    const isPending = this.#stored.model !== null && this.#deps.absentIds().includes(this.#stored.model);
    const becomesChoice = servesAgent && model !== undefined && !model.demo && !isPending;
    if (becomesChoice && this.#stored.model !== id) this.#change({ model: id, failed });
    else if (failure !== undefined) this.#change({ failed });
  }

  /** Records that a load failed. */
  failed(id: string): void {
    const model = this.#deps.models().find((each) => each.id === id);
    if (model === undefined || model.demo) return;
    const failed = Object.entries({ ...this.#stored.failed, [id]: fingerprint(model) }).slice(-MAX_IDS);
    this.#change({ failed: Object.fromEntries(failed) });
  }

  /** Whether the last load of this file failed. */
  hasFailed(model: RegisteredModel): boolean {
    return this.#stored.failed[model.id] === fingerprint(model);
  }

  #served(models: readonly RegisteredModel[]): RegisteredModel | null {
    return models.find((model) => model.id === this.#stored.model && isChat(model)) ?? null;
  }

  #best(models: readonly RegisteredModel[], memoryBytes: number | null): RegisteredModel | null {
    return chooseChatModel(
      models.filter((model) => !this.hasFailed(model)),
      memoryBytes,
    );
  }

  #change(change: Partial<Stored>): void {
    this.#stored = { ...this.#stored, ...change };
    this.#deps.store.set(KEY, JSON.stringify(this.#stored));
  }
}
