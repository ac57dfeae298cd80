import type { SlotTypeName } from '../contract/slots.ts';
import { curatedModel } from '../models/images/curated.ts';

/** Matches words of a name: parts between separators. */
const words = (pattern: string): RegExp => new RegExp(`(?:^|[/_.:\\s-])(?:${pattern})(?=$|[/_.:\\s-])`, 'i');

/** Names of model families, in the order in which they are compared: a reranker may be named after an embedder. */
const FAMILIES: readonly (readonly [SlotTypeName, RegExp])[] = [
  ['rerank', words('rerank(?:er)?')],
  ['embedding', words('embed|embedd?ings?|bge|gte|e5|minilm|voyage')],
  [
    'stt',
    words(
      'whisper|[a-z]*transcribe|stt|asr|parakeet|moonshine|sensevoice|paraformer|canary-(?:1b|qwen|180m)',
    ),
  ],
  ['tts', words('tts|xtts|kokoro|piper|chatterbox|speecht5|parler')],
  [
    'image',
    words(
      'dall-?e|(?:gpt|chatgpt|qwen|hunyuan|z|glm)-image|imagen|flux|flux1|sdxl|sd[-_.]?(?:1|15|2|3|35|xl|turbo)|stable-?diffusion|stable-image|kandinsky|pixart|hidream|seedream|recraft|ideogram',
    ),
  ],
];

/**
 * Returns the type that the name of an upstream's model says, by the curated set and the names of known families; null
 * for any other name. Only lists use it: a caller may name any model on any route.
 */
export function typeByName(id: string): SlotTypeName | null {
  const family = FAMILIES.find(([, names]) => names.test(id));
  if (family) return family[0];
  return curatedModel(id) === undefined ? null : 'image';
}
