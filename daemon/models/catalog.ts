import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CatalogFile,
  type CatalogFileEntryView,
  type CatalogFileView,
  type PurposeName,
} from '../contract/catalog.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import { ROOT } from '../lib/fs/root.ts';
import { type ContextMemory, decoderBuffers, vocabularyBytes } from './context-memory.ts';

/** A model of the catalogue. */
export type KnownModel = CatalogFileEntryView;

/** The list that comes with the gateway. */
export const SHIPPED_CATALOG = join(ROOT, 'assets', 'catalog.json');

/** Reads a catalogue file. Throws for a file that is missing or does not have the form of one. */
export const readCatalog = (path: string): CatalogFileView =>
  CatalogFile.parse(JSON.parse(readFileSync(path, 'utf8')));

const TYPES: Readonly<Record<PurposeName, SlotTypeName>> = {
  chat: 'llm',
  coding: 'llm',
  vision: 'llm',
  small: 'llm',
  embedding: 'embedding',
  rerank: 'rerank',
  hearing: 'stt',
  speaking: 'tts',
  images: 'image',
};

/** Returns the slot type for a purpose. */
export const typeOf = ({ purpose }: Pick<KnownModel, 'purpose'>): SlotTypeName => TYPES[purpose];

/** Splits the name to pull: the repository, and the file or quantisation after the colon. */
export function splitPullName(model: string): { repo: string; file: string | null } {
  const colon = model.indexOf(':');
  return colon === -1
    ? { repo: model, file: null }
    : { repo: model.slice(0, colon), file: model.slice(colon + 1) };
}

/** Returns the id of the registered model that was pulled from the same repository. Null when there is none. */
export function installedFrom(
  { model }: Pick<KnownModel, 'model'>,
  here: readonly { readonly id: string; readonly repo: string | null }[],
): string | null {
  const { repo, file } = splitPullName(model);
  const part = file?.replace(/\.gguf$/i, '').toLowerCase();
  const isOf = (id: string) => part === undefined || id.toLowerCase().includes(part);
  return here.find((one) => one.repo === repo && isOf(one.id))?.id ?? null;
}

/** Returns what the context of an entry takes. Null when the list does not say, or the model has no text context. */
function contextMemoryOf({ context_memory: sizes }: KnownModel): ContextMemory | null {
  if (sizes === null) return null;
  const isDecoder =
    sizes.full_bytes_per_token + sizes.sliding_bytes_per_token + sizes.state_bytes_per_sequence > 0;
  return {
    fullBytesPerToken: sizes.full_bytes_per_token,
    slidingBytesPerToken: sizes.sliding_bytes_per_token,
    slidingWindow: sizes.sliding_window,
    stateBytesPerSequence: sizes.state_bytes_per_sequence,
    draftBytesPerToken: 0,
    vocabulary: isDecoder ? sizes.vocabulary : 0,
    ...decoderBuffers(sizes.embedding),
    ...vocabularyBytes(sizes.vocabulary),
  };
}

const TEXT: ReadonlySet<SlotTypeName> = new Set(['llm', 'embedding', 'rerank']);

/** Returns the header of a model that is not downloaded yet, as far as the list states it. */
export function estimateHeader(known: KnownModel) {
  const isText = TEXT.has(typeOf(known));
  return {
    sizeBytes: known.size_bytes,
    contextTrain: known.context,
    // Without sizes the window of a text model is estimated from the file.
    kvBytesPerToken: isText ? null : 0,
    contextMemory: contextMemoryOf(known),
    cardBytes: known.card_bytes,
    experts: known.experts,
    activeBytes: activeBytes(known),
    readsInSteps: isText && typeOf(known) !== 'llm' && known.architecture === 'qwen3',
    embedding: known.context_memory?.embedding ?? (isText ? null : 0),
  };
}

/** Returns the bytes of the weights that one token reads: those of the experts that it uses, and all others. */
export function activeBytes({
  size_bytes,
  parameters,
}: Pick<KnownModel, 'size_bytes' | 'parameters'>): number {
  if (parameters === null) return size_bytes;
  return size_bytes * Math.min(1, parameters.active_b / parameters.total_b);
}
