/**
 * Names with a special meaning, in docs/spec/specification.md#slot-names or in dispatch. No model gets
 * one of them because of its id.
 */
const RESERVED: ReadonlySet<string> = new Set([
  'agent',
  'agent-hermes',
  'utility',
  'embed',
  'rerank',
  'stt',
  'tts',
  'img',
  'npu',
]);
const MAX_LENGTH = 32;

/** Returns a slot name made from a model id: lower-case letters, digits, `-` and `_`. */
function slug(id: string): string {
  const plain = id
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, MAX_LENGTH)
    .replace(/[-_]+$/, '');
  return plain === '' ? 'model' : plain;
}

/** Returns the name of a model's own slot: the first free one of `id`, `id-2`, `id-3`, … */
export function slotNameFor(id: string, isTaken: (name: string) => boolean): string {
  const first = slug(id);
  const free = (name: string) => !RESERVED.has(name) && !isTaken(name);
  if (free(first)) return first;
  for (let number = 2; ; number++) {
    const ending = `-${number}`;
    const name = `${first.slice(0, MAX_LENGTH - ending.length)}${ending}`;
    if (free(name)) return name;
  }
}
