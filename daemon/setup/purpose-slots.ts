import type { PurposeName } from '../contract/catalog.ts';
import type { SlotTypeName } from '../contract/slots.ts';

/** Slot for each purpose. Dispatch knows these names (docs/spec/specification.md#slot-names). */
export const SLOT_OF_PURPOSE: Readonly<Record<Exclude<PurposeName, 'images'>, string>> = {
  chat: 'agent',
  coding: 'agent',
  vision: 'agent',
  small: 'utility',
  embedding: 'embed',
  rerank: 'rerank',
  hearing: 'stt',
  speaking: 'tts',
};

/** The slots that setup fills, with what they serve. */
export const SETUP_SLOT_TYPES: ReadonlyMap<string, SlotTypeName> = new Map([
  ['agent', 'llm'],
  ['utility', 'llm'],
  ['embed', 'embedding'],
  ['rerank', 'rerank'],
  ['stt', 'stt'],
  ['tts', 'tts'],
]);
