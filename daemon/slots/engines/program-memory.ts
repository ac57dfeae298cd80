import type { SlotConfig } from '../config/slot-config.ts';
import type { EngineMemory, MemoryParams } from './engine.ts';

export const MIB = 1024 ** 2;
export const GIB = 1024 ** 3;

/** Returns the arguments of a program, as the slot file gives them. */
const wordsOf = ({ command, extraArgs }: SlotConfig): readonly string[] => [...(command ?? []), ...extraArgs];

const normalized = (word: string): string => word.replaceAll('_', '-');

/**
 * Returns the value of an option in the arguments of a slot file, the last one when it occurs several times; null without
 * it. `names` are its spellings with dashes; underscores are read too.
 */
export function optionValue(config: SlotConfig, names: readonly string[]): string | null {
  const words = wordsOf(config);
  let value: string | null = null;
  for (const [at, word] of words.entries()) {
    const [name = '', ...inline] = word.split('=');
    if (!word.startsWith('-') || !names.includes(normalized(name))) continue;
    value = inline.length > 0 ? inline.join('=') : (words[at + 1] ?? null);
  }
  return value;
}

/** Returns the positive number of an option; null without one. */
export function optionNumber(config: SlotConfig, names: readonly string[]): number | null {
  const value = Number(optionValue(config, names) ?? Number.NaN);
  return Number.isFinite(value) && value > 0 ? value : null;
}

/** The size of a model in its name: `Qwen3-8B`, `llama3.2:1b`, `Qwen3-30B-A3B`, `gemma-270m`. */
const PARAMETERS = /(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])/i;
/** Bytes of one parameter, by the words for quantisations in the name of a model. */
const BYTES_PER_PARAMETER: readonly (readonly [RegExp, number])[] = [
  [/(awq|gptq|int4|w4a16|4bit|nf4|fp4|mxfp4|q4)/i, 0.6],
  [/(fp8|int8|w8a8|w8a16|8bit|q8)/i, 1.05],
  [/(fp32|f32|float32)/i, 4],
];
const BYTES_OF_HALF_PRECISION = 2;

/** Returns the bytes of the weights of a model by its name, such as `Qwen/Qwen3-8B-AWQ`; null when it names no size. */
export function weightsByName(name: string, bytesPerParameter?: number): number | null {
  const [, amount, unit] = PARAMETERS.exec(name) ?? [];
  if (amount === undefined) return null;
  const parameters = Number(amount) * (unit?.toLowerCase() === 'm' ? 1e6 : 1e9);
  const bytes =
    bytesPerParameter ??
    BYTES_PER_PARAMETER.find(([pattern]) => pattern.test(name))?.[1] ??
    BYTES_OF_HALF_PRECISION;
  return Math.ceil(parameters * bytes);
}

/** How much a program takes for a model file, measured with real programs (docs/internals/program-memory.md). */
interface ProgramRule {
  /** Bytes of the program without a model. */
  readonly engine: number;
  /** Bytes in memory per byte of the file. Default 1. */
  readonly perByte?: number;
  /** Bytes at the largest input. Default 0. */
  readonly compute?: number;
  /** Bytes of a model whose size is unknown. Default 0. */
  readonly unknown?: number;
}

/** Returns the memory of a program that reads one model file or folder. */
export const programMemory =
  ({ engine, perByte = 1, compute = 0, unknown = 0 }: ProgramRule) =>
  ({ model }: MemoryParams): EngineMemory => ({
    engine,
    weights: Math.ceil(model.sizeBytes > 0 ? model.sizeBytes * perByte : unknown),
    window: 0,
    compute,
  });
