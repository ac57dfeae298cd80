import type { PurposeName } from '../contract/catalog.ts';

/** The slot that a model of this purpose gets; the names are those that dispatch knows (spec "Slots"). */
export const PLACES: Readonly<Record<Exclude<PurposeName, 'images'>, string>> = {
  chat: 'agent',
  coding: 'agent',
  small: 'utility',
  embedding: 'embed',
  rerank: 'rerank',
  hearing: 'stt',
  speaking: 'tts',
};
