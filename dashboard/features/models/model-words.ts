import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { byteSize, count } from '../../ui/format.ts';
import { TYPES } from '../slots/groups.ts';

/** Label of a model type. */
export const typeWord = (type: ModelWithMemory['type']): string =>
  TYPES.find((row) => row.type === type)?.word ?? type;

/** The line below the name of a model. */
export function modelLine(model: ModelWithMemory): string {
  return [
    typeWord(model.type),
    model.quantization ?? (model.format === 'gguf' ? null : model.format),
    model.size_bytes > 0 ? byteSize(model.size_bytes) : null,
    model.context_length === null ? null : `${count(model.context_length)} tokens`,
    model.projector ? 'vision' : null,
    model.demo ? 'demo' : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

const ABILITIES: Readonly<Record<string, string>> = {
  tools: 'tools',
  vision: 'vision',
  reasoning: 'reasoning',
};

/** Capabilities from the model header, or null when there are none beyond its type. */
export function abilities(capabilities: Readonly<Record<string, boolean>>): string | null {
  const able = Object.keys(capabilities).filter((name) => capabilities[name]);
  return able.length === 0 ? null : able.map((name) => ABILITIES[name] ?? name).join(', ');
}

/** Where the files of a model come from. */
export const SOURCES: Record<ModelWithMemory['source'], string> = {
  demo: 'built in, replaced by a real model',
  scan: 'found in a model folder',
  register: 'added from disk',
  program: 'part of an installed program',
  pull: 'downloaded from the hub',
};

/** Parameter count with a unit: `4.0 B`, `22 M`. */
export function parameters(many: number): string {
  const [size, word] = many >= 1e9 ? [1e9, 'B'] : [1e6, 'M'];
  const value = many / size;
  return value < 0.1 ? count(many) : `${value.toFixed(value < 10 ? 1 : 0)} ${word}`;
}

/** Sorts by type, chat models first, and by size within a type, largest first. */
export function inOrder(models: readonly ModelWithMemory[]): ModelWithMemory[] {
  const place = (model: ModelWithMemory): number => TYPES.findIndex(({ type }) => type === model.type);
  return [...models].sort(
    (a, b) => place(a) - place(b) || b.size_bytes - a.size_bytes || (a.id < b.id ? -1 : 1),
  );
}
