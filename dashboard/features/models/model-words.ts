import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { count, gib } from '../../ui/format.ts';
import { TYPES } from '../slots/groups.ts';

/** What a model is for, in a word. */
export const typeWord = (type: ModelWithMemory['type']): string =>
  TYPES.find((row) => row.type === type)?.word ?? type;

/** The line below the name of a model. */
export function modelLine(model: ModelWithMemory): string {
  return [
    typeWord(model.type),
    model.quantization ?? (model.format === 'gguf' ? null : model.format),
    model.size_bytes > 0 ? gib(model.size_bytes) : null,
    model.context_length === null ? null : `${count(model.context_length)} tokens`,
    model.projector ? 'with projector' : null,
    model.demo ? 'demonstration' : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

const ABILITIES: Readonly<Record<string, string>> = {
  tools: 'calls tools',
  vision: 'sees pictures',
  reasoning: 'thinks before it answers',
};

/** What its header says that it can; null when that is nothing beyond its type. */
export function abilities(capabilities: Readonly<Record<string, boolean>>): string | null {
  const able = Object.keys(capabilities).filter((name) => capabilities[name]);
  return able.length === 0 ? null : able.map((name) => ABILITIES[name] ?? name).join(', ');
}

/** Where its files came from, and so what removing it means. */
export const SOURCES: Record<ModelWithMemory['source'], string> = {
  demo: 'made by the gateway, steps aside for a real model',
  scan: 'found in a model folder',
  register: 'registered by its path',
  program: 'part of a program of this machine',
  pull: 'pulled from the hub',
};

/** Weights as one says them: `4.0 billion`, `22 million`. */
export function parameters(many: number): string {
  const [size, word] = many >= 1e9 ? [1e9, 'billion'] : [1e6, 'million'];
  const value = many / size;
  return value < 0.1 ? count(many) : `${value.toFixed(value < 10 ? 1 : 0)} ${word}`;
}

/** The first that matter most: chat first, within a type the larger ones. */
export function inOrder(models: readonly ModelWithMemory[]): ModelWithMemory[] {
  const place = (model: ModelWithMemory): number => TYPES.findIndex(({ type }) => type === model.type);
  return [...models].sort(
    (a, b) => place(a) - place(b) || b.size_bytes - a.size_bytes || (a.id < b.id ? -1 : 1),
  );
}
