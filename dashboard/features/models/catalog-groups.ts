import type { CatalogView, PurposeName } from '../../../daemon/contract/catalog.ts';

type Entry = CatalogView['entries'][number];
type MemoryClassName = Entry['memory'][number];

/** A heading of the catalogue with its entries. */
export interface CatalogGroup {
  word: string;
  entries: Entry[];
}

/** Label of each purpose. */
export const PURPOSE_WORDS: Readonly<Record<PurposeName, string>> = {
  chat: 'Chat',
  coding: 'Coding',
  vision: 'Vision',
  small: 'Small',
  embedding: 'Embeddings',
  rerank: 'Reranking',
  hearing: 'Speech to text',
  speaking: 'Text to speech',
  images: 'Images',
};
/** Purposes whose models are as large as the memory allows. */
const BY_MEMORY: ReadonlySet<PurposeName> = new Set(['chat', 'coding', 'vision', 'small']);
const BY_PURPOSE = (Object.keys(PURPOSE_WORDS) as PurposeName[]).filter((purpose) => !BY_MEMORY.has(purpose));
/** Gigabytes of the memory classes, smallest first; the others say what kind of memory it is. */
const SIZES = ['4', '8', '12', '16', '24', '32', '48', '64', '96', '128'] as const;

const sizeOf = ({ memory }: Entry): (typeof SIZES)[number] | undefined =>
  SIZES.find((size) => memory.includes(size));

/** Returns the groups of the catalogue: text models by the smallest memory that holds them, the others by purpose. */
export function catalogGroups(entries: readonly Entry[]): CatalogGroup[] {
  const text = entries.filter(({ purpose }) => BY_MEMORY.has(purpose));
  const groups = [
    { word: 'Text models for any memory', entries: text.filter((one) => sizeOf(one) === undefined) },
    ...SIZES.map((size) => ({
      word: `Text models for ${size} GB`,
      entries: text.filter((one) => sizeOf(one) === size),
    })),
    ...BY_PURPOSE.map((purpose) => ({
      word: PURPOSE_WORDS[purpose],
      entries: entries.filter((one) => one.purpose === purpose),
    })),
  ];
  return groups.filter((group) => group.entries.length > 0);
}

const KINDS: Readonly<Partial<Record<MemoryClassName, string>>> = { cpu: 'CPU', unified: 'unified memory' };

/** Returns the kinds of memory that an entry is for in addition to a card; empty when there are none. */
export const memoryKinds = ({ memory }: Entry): string[] => memory.flatMap((one) => KINDS[one] ?? []);

/** Returns what is not verified about an entry, as words; empty when everything is. */
export const unverifiedWords = ({ unverified }: Entry): string =>
  unverified.length === 0 ? '' : `Not verified: ${unverified.join(', ')}.`;
