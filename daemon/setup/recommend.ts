import type { ModelFitView, PurposeName } from '../contract/catalog.ts';
import type { SetupItemView, SetupLeftOutView } from '../contract/setup.ts';
import { CATALOG, type KnownModel, pullName, reckoned, typeOf } from '../models/catalog.ts';
import type { SlotModel } from '../slots/engines/engine.ts';
import { SLOT_OF_PURPOSE } from './places.ts';

/** Bytes of each memory that other models of the set are going to take. */
export type PlannedMemory = ReadonlyMap<string, number>;

/** What a set is chosen on. */
export interface RecommendInput {
  /** What admission makes of a model when others take their share first. */
  fit(model: SlotModel, beside: PlannedMemory): ModelFitView;
  /** Whether a memory is that of the machine and no card computes on it. */
  isHostMemory(pool: string): boolean;
  /** Whether a memory is shared by the processor and a large GPU. */
  isUnified(pool: string): boolean;
  readonly cores: number;
  /** Bytes that may be fetched; null when the disk does not tell. */
  readonly diskBytes: number | null;
  /** Slots that have a model of their own already. */
  readonly filledSlots: ReadonlySet<string>;
  /** Id of the registered model that was fetched from the same place; null without one. */
  installed(known: KnownModel): string | null;
}

export interface ModelSet {
  readonly items: readonly SetupItemView[];
  readonly leftOut: readonly SetupLeftOutView[];
}

/** Best first, by names of the catalogue; all of them may be used without terms to accept. */
export const PREFERRED: Readonly<Record<Exclude<PurposeName, 'coding' | 'images'>, readonly string[]>> = {
  chat: ['Qwen3 32B', 'Qwen3 30B A3B', 'gpt-oss 20B', 'Qwen3 14B', 'Qwen3 8B', 'Qwen3 4B', 'Qwen3 0.6B'],
  embedding: ['Qwen3 Embedding 0.6B', 'Nomic Embed Text v1.5'],
  hearing: ['Whisper base'],
  speaking: ['Kokoro 82M', 'Piper Amy'],
  rerank: ['BGE Reranker v2 M3'],
  small: ['Qwen3 0.6B'],
};
/** Order in which what the chat model leaves is given away. */
const COMPANIONS = ['embedding', 'hearing', 'speaking', 'rerank', 'small'] as const;
/** What should have room beside the chat model, or a smaller one is taken. */
const WANTED = ['embedding', 'hearing', 'speaking'] as const;

/** Megabytes of weights that one token reads, where that is not all of them. */
const ACTIVE_MB: Readonly<Record<string, number>> = { 'gpt-oss 20B': 2_200, 'Qwen3 30B A3B': 2_000 };
/** A processor reads about this much for each core before an answer gets slower than one reads. */
const MB_PER_CORE = 1_300;
const MAX_ON_PROCESSOR_MB = 5_500;
const MAX_UNIFIED_MB = 10_000;
/** A helper beside a chat model that is hardly larger is of no use. */
const MIN_CHAT_BYTES_FOR_HELPER = 2_000_000_000;

type Purpose = keyof typeof PREFERRED;

interface Choice {
  readonly known: KnownModel;
  readonly fit: ModelFitView;
}

const FITS: ReadonlySet<ModelFitView['badge']> = new Set(['fits', 'fits_with_context']);

/** The model as its slot would see it. */
export const asSlotModel = (known: KnownModel): SlotModel => ({
  id: known.repo,
  path: null,
  type: typeOf(known),
  demo: false,
  ...reckoned(known),
});

const candidatesOf = (purpose: Purpose): KnownModel[] =>
  PREFERRED[purpose].flatMap((name) => CATALOG.find((known) => known.name === name) ?? []);

/** What a set takes so far. */
class Selection {
  readonly chosen: readonly Choice[];
  readonly #input: RecommendInput;

  constructor(input: RecommendInput, chosen: readonly Choice[] = []) {
    this.#input = input;
    this.chosen = chosen;
  }

  with(choice: Choice): Selection {
    return new Selection(this.#input, [...this.chosen, choice]);
  }

  get plannedMemory(): Map<string, number> {
    const beside = new Map<string, number>();
    for (const { fit } of this.chosen) {
      const pool = fit.pool ?? '';
      beside.set(pool, (beside.get(pool) ?? 0) + (fit.needed ?? 0));
    }
    return beside;
  }

  /** Bytes to fetch so far. */
  get downloadBytes(): number {
    return this.chosen.reduce((all, { known }) => all + this.bytesOf(known), 0);
  }

  bytesOf(known: KnownModel): number {
    return this.#input.installed(known) === null ? reckoned(known).sizeBytes : 0;
  }

  /** What fits beside all this; with a full window before a smaller one. */
  candidates(purpose: Purpose): { fitting: Choice[]; stoppedBy: 'memory' | 'disk' } {
    const { diskBytes } = this.#input;
    const beside = this.plannedMemory;
    const inMemory = candidatesOf(purpose)
      .map((known) => ({ known, fit: this.#input.fit(asSlotModel(known), beside) }))
      .filter((choice) => FITS.has(choice.fit.badge));
    const onDisk = inMemory.filter(
      ({ known }) => diskBytes === null || this.downloadBytes + this.bytesOf(known) <= diskBytes,
    );
    const whole = onDisk.filter((choice) => choice.fit.badge === 'fits');
    const fitting = [...whole, ...onDisk.filter((choice) => choice.fit.badge !== 'fits')];
    return { fitting, stoppedBy: inMemory.length > 0 ? 'disk' : 'memory' };
  }

  /** Whether everything that one wants beside a chat model still has room. */
  hasRoomForCompanions(): boolean {
    let taken: Selection = this;
    for (const purpose of WANTED) {
      const last = taken.candidates(purpose).fitting.at(-1);
      if (last === undefined) return false;
      taken = taken.with(last);
    }
    return true;
  }
}

/** Whether answers come at a pace at which one can read along. */
function isQuick({ known, fit }: Choice, { cores, isHostMemory, isUnified }: RecommendInput): boolean {
  const active = ACTIVE_MB[known.name] ?? known.sizeMb;
  const pool = fit.pool ?? '';
  if (isUnified(pool)) return active <= MAX_UNIFIED_MB;
  return !isHostMemory(pool) || active <= Math.min(MAX_ON_PROCESSOR_MB, cores * MB_PER_CORE);
}

/**
 * The best chat model that is quick and leaves room for the others, on a card before on the processor, which takes long to read
 * a prompt; else the best quick one, else the smallest.
 */
function chatChoice(input: RecommendInput, fitting: readonly Choice[]): Choice | undefined {
  const quick = fitting.filter((choice) => isQuick(choice, input));
  const onCard = quick.filter(
    ({ known, fit }) => known.purpose === 'chat' && !input.isHostMemory(fit.pool ?? ''),
  );
  const isGenerous = (choice: Choice) => new Selection(input, [choice]).hasRoomForCompanions();
  return onCard.find(isGenerous) ?? onCard[0] ?? quick.find(isGenerous) ?? quick[0] ?? fitting.at(-1);
}

function itemOf({ known, fit }: Choice, purpose: Purpose, input: RecommendInput): SetupItemView {
  return {
    slot: SLOT_OF_PURPOSE[purpose],
    purpose,
    model: pullName(known),
    name: known.name,
    note: known.note,
    licence: known.licence,
    size_bytes: reckoned(known).sizeBytes,
    context: known.context === null ? null : fit.context,
    smaller_window: fit.badge === 'fits_with_context',
    needed_bytes: fit.needed ?? 0,
    pool: fit.pool ?? '',
    installed: input.installed(known),
  };
}

/**
 * One set of models for this machine: the best chat model that is quick here, and beside it, as memory and disk allow, one for
 * meaning, hearing, speaking, ranking and small chores. All of them fit at the same time, by what admission foresees. Pure but
 * for what the picture asks.
 */
export function recommend(input: RecommendInput): ModelSet {
  const items: SetupItemView[] = [];
  const leftOut: SetupLeftOutView[] = [];
  let selection = new Selection(input);
  const take = (purpose: Purpose, choice: Choice | undefined, reason: SetupLeftOutView['reason']) => {
    if (choice === undefined) return void leftOut.push({ purpose, reason });
    selection = selection.with(choice);
    items.push(itemOf(choice, purpose, input));
  };
  for (const purpose of ['chat', ...COMPANIONS] as const) {
    if (input.filledSlots.has(SLOT_OF_PURPOSE[purpose])) {
      leftOut.push({ purpose, reason: 'has_model' });
      continue;
    }
    const { fitting, stoppedBy } = selection.candidates(purpose);
    if (purpose === 'chat') take(purpose, chatChoice(input, fitting), stoppedBy);
    else if (purpose !== 'small') take(purpose, fitting[0], stoppedBy);
    else if ((items[0]?.slot === SLOT_OF_PURPOSE.chat ? items[0].size_bytes : 0) >= MIN_CHAT_BYTES_FOR_HELPER)
      take(purpose, fitting[0], stoppedBy);
  }
  return { items, leftOut };
}
