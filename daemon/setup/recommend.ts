import type { CatalogFileView, ModelFitView } from '../contract/catalog.ts';
import type { SetupChoiceView, SetupItemView, SetupLeftOutView } from '../contract/setup.ts';
import { activeBytes, estimateHeader, type KnownModel, typeOf } from '../models/catalog.ts';
import type { SlotModel } from '../slots/engines/engine.ts';
import { SLOT_OF_PURPOSE } from './purpose-slots.ts';

/** Bytes of each memory pool that other models of the set will use. */
export type PlannedMemory = ReadonlyMap<string, number>;

/** What a set is chosen on. */
export interface RecommendInput {
  /** Returns the fit of a model after the planned memory of others. */
  fit(model: SlotModel, planned: PlannedMemory): ModelFitView;
  /** Whether a pool is host memory without a GPU. */
  isHostMemory(pool: string): boolean;
  /** Whether a pool is shared by the CPU and a large GPU. */
  isUnified(pool: string): boolean;
  /** The models of the catalogue, and those to choose from, best first. None of these requires accepting terms. */
  readonly entries: readonly KnownModel[];
  readonly preferred: CatalogFileView['preferred'];
  readonly cores: number;
  /** Bytes available for downloads; null when unknown. */
  readonly diskBytes: number | null;
  /** Slots that already have a model. */
  readonly filledSlots: ReadonlySet<string>;
  /** Returns the id of the registered model from the same repository, or null. */
  installed(known: KnownModel): string | null;
}

export interface ModelSet {
  readonly items: readonly SetupItemView[];
  /** Chat models of three sizes, the smallest first; the one of `items` is among them. */
  readonly chat: readonly SetupChoiceView[];
  readonly leftOut: readonly SetupLeftOutView[];
}

/** Order in which the memory left by the chat model is used. */
const COMPANIONS = ['embedding', 'hearing', 'speaking', 'rerank', 'small'] as const;
/** Purposes that must fit next to the chat model; otherwise a smaller chat model is chosen. */
const WANTED = ['embedding', 'hearing', 'speaking'] as const;

/** Megabytes that a CPU core can read per token while the output stays at reading speed. */
const MB_PER_CORE = 1_300;
const MAX_ON_PROCESSOR_MB = 5_500;
const MAX_UNIFIED_MB = 10_000;
/** A helper is useless next to a chat model that is hardly larger. */
const MIN_CHAT_BYTES_FOR_HELPER = 2_000_000_000;

type Purpose = keyof CatalogFileView['preferred'];

interface Choice {
  readonly known: KnownModel;
  readonly fit: ModelFitView;
}

const FITS: ReadonlySet<ModelFitView['badge']> = new Set(['fits', 'fits_with_context']);

/** The model as its slot would see it. */
export const asSlotModel = (known: KnownModel): SlotModel => ({
  id: known.model,
  path: null,
  type: typeOf(known),
  demo: false,
  ...estimateHeader(known),
});

const candidatesOf = ({ entries, preferred }: RecommendInput, purpose: Purpose): KnownModel[] =>
  preferred[purpose].flatMap((model) => entries.find((known) => known.model === model) ?? []);

/** The models chosen so far. */
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
    const planned = new Map<string, number>();
    for (const { fit } of this.chosen) {
      const pool = fit.pool ?? '';
      planned.set(pool, (planned.get(pool) ?? 0) + (fit.needed ?? 0));
    }
    return planned;
  }

  /** Bytes to fetch so far. */
  get downloadBytes(): number {
    return this.chosen.reduce((all, { known }) => all + this.bytesOf(known), 0);
  }

  bytesOf(known: KnownModel): number {
    return this.#input.installed(known) === null ? estimateHeader(known).sizeBytes : 0;
  }

  /** Returns the models that fit next to the selection, those with a full context first. */
  candidates(purpose: Purpose): { fitting: Choice[]; stoppedBy: 'memory' | 'disk' } {
    const { diskBytes } = this.#input;
    const planned = this.plannedMemory;
    const inMemory = candidatesOf(this.#input, purpose)
      .map((known) => ({ known, fit: this.#input.fit(asSlotModel(known), planned) }))
      .filter((choice) => FITS.has(choice.fit.badge));
    const onDisk = inMemory.filter(
      ({ known }) => diskBytes === null || this.downloadBytes + this.bytesOf(known) <= diskBytes,
    );
    const whole = onDisk.filter((choice) => choice.fit.badge === 'fits');
    const fitting = [...whole, ...onDisk.filter((choice) => choice.fit.badge !== 'fits')];
    return { fitting, stoppedBy: inMemory.length > 0 ? 'disk' : 'memory' };
  }

  /** Whether all wanted purposes still fit. */
  hasHeadroomForCompanions(): boolean {
    let taken: Selection = this;
    for (const purpose of WANTED) {
      const last = taken.candidates(purpose).fitting.at(-1);
      if (last === undefined) return false;
      taken = taken.with(last);
    }
    return true;
  }
}

/** Tokens per second below which no one waits for an answer. */
const MIN_TOKENS_PER_SECOND = 4;

/** Whether the output is at least at reading speed. */
function isQuick({ known, fit }: Choice, { cores, isHostMemory, isUnified }: RecommendInput): boolean {
  if (fit.speed !== undefined) return fit.speed.low >= MIN_TOKENS_PER_SECOND;
  const active = activeBytes(known) / 1_000_000;
  const pool = fit.pool ?? '';
  if (isUnified(pool)) return active <= MAX_UNIFIED_MB;
  return !isHostMemory(pool) || active <= Math.min(MAX_ON_PROCESSOR_MB, cores * MB_PER_CORE);
}

/**
 * Returns the best quick chat model that leaves memory for the others, on a GPU before the CPU, which is slow
 * at prompts; else the best quick one, else the smallest.
 */
function chatChoice(input: RecommendInput, fitting: readonly Choice[]): Choice | undefined {
  const quick = fitting.filter((choice) => isQuick(choice, input));
  const onCard = quick.filter(
    ({ known, fit }) => known.purpose === 'chat' && !input.isHostMemory(fit.pool ?? ''),
  );
  const isGenerous = (choice: Choice) => new Selection(input, [choice]).hasHeadroomForCompanions();
  return onCard.find(isGenerous) ?? onCard[0] ?? quick.find(isGenerous) ?? quick[0] ?? fitting.at(-1);
}

function itemOf({ known, fit }: Choice, purpose: Purpose, input: RecommendInput): SetupItemView {
  return {
    slot: SLOT_OF_PURPOSE[purpose],
    purpose,
    model: known.model,
    name: known.name,
    note: known.note,
    licence: known.licence,
    size_bytes: estimateHeader(known).sizeBytes,
    context: known.context === null ? null : fit.context,
    smaller_window: fit.badge === 'fits_with_context',
    needed_bytes: fit.needed ?? 0,
    pool: fit.pool ?? '',
    ...(fit.speed !== undefined && { speed: fit.speed }),
    installed: input.installed(known),
  };
}

/** How much smaller the next choice is at least, as a share of the bytes of the larger one. */
const SMALLER = 0.65;

/**
 * Returns up to three chat models, the smallest first: the chosen one, and quick ones that are clearly smaller. The
 * preferred one of a size comes first in `fitting`.
 */
function chatChoices(
  input: RecommendInput,
  fitting: readonly Choice[],
  best: Choice | undefined,
): SetupChoiceView[] {
  if (best === undefined) return [];
  const bytes = ({ known }: Choice) => estimateHeader(known).sizeBytes;
  const smaller = (than: Choice) =>
    fitting.filter((choice) => bytes(choice) <= bytes(than) * SMALLER && isQuick(choice, input));
  const balanced = largest(smaller(best), bytes);
  const small = balanced && largest(smaller(balanced), bytes);
  const choices = [
    { id: 'small', choice: small },
    { id: 'balanced', choice: balanced },
    { id: 'best', choice: best },
  ] as const;
  return choices.flatMap(({ id, choice }) =>
    choice === undefined ? [] : [{ id, item: itemOf(choice, 'chat', input) }],
  );
}

const largest = (choices: readonly Choice[], bytes: (choice: Choice) => number): Choice | undefined =>
  choices.reduce<Choice | undefined>(
    (found, one) => (found === undefined || bytes(one) > bytes(found) ? one : found),
    undefined,
  );

/** Returns the model for a first try in slot `agent`; null when it does not fit. */
export function quickStart(input: RecommendInput, model: string): SetupItemView | null {
  const known = input.entries.find((entry) => entry.model === model);
  if (known === undefined) return null;
  const fit = input.fit(asSlotModel(known), new Map());
  return FITS.has(fit.badge) ? itemOf({ known, fit }, 'chat', input) : null;
}

/**
 * Returns one set of models for this machine: the best quick chat model, and as memory and disk allow, one
 * each for embeddings, transcription, speech, reranking and small tasks. All of them fit at the same time
 * according to admission. Pure except for the functions of the input.
 */
export function recommend(input: RecommendInput): ModelSet {
  const items: SetupItemView[] = [];
  const leftOut: SetupLeftOutView[] = [];
  let chat: SetupChoiceView[] = [];
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
    if (purpose === 'chat') {
      const best = chatChoice(input, fitting);
      chat = chatChoices(input, fitting, best);
      take(purpose, best, stoppedBy);
    } else if (purpose !== 'small') take(purpose, fitting[0], stoppedBy);
    else if ((items[0]?.slot === SLOT_OF_PURPOSE.chat ? items[0].size_bytes : 0) >= MIN_CHAT_BYTES_FOR_HELPER)
      take(purpose, fitting[0], stoppedBy);
  }
  return { items, leftOut, chat };
}
