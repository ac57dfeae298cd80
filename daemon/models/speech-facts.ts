import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onnxMetadata } from './onnx/metadata.ts';
import { readFault } from './read-fault.ts';
import { type FoundFamily, familyOf } from './speech-families.ts';
import { type FoundLayout, layoutOf, type SpeechFiles } from './speech-layouts.ts';
import { voicesOf } from './speech-voices.ts';

/** Entries of one folder that are looked at. */
const MAX_ENTRIES = 4_096;
const MAX_JSON_BYTES = 4 << 20;

/** What the files of a speech model say. Paths are absolute. */
export interface SpeechFacts extends FoundFamily {
  readonly kind: 'speech';
  readonly files: SpeechFiles;
  readonly lexicons: readonly string[];
  readonly rules: readonly string[];
  /** Of a speaking model, by speaker number; empty for one that listens. */
  readonly voices: readonly string[];
  /** Languages that it can be told to expect, by code; empty when it takes no such hint. */
  readonly languages: readonly string[];
  readonly sampleRate: number | null;
  readonly language: string | null;
  readonly quantization: string | null;
  /** Bytes of the files that are loaded. */
  readonly sizeBytes: number;
}

/** The speech model that lies in a folder, by its names; null when there is none, or no such folder. */
export async function speechLayout(folder: string): Promise<FoundLayout | null> {
  const names = await readdir(folder).catch(() => []);
  return layoutOf(names.slice(0, MAX_ENTRIES));
}

/** Bytes and last changes of what is loaded from a folder; files with outside weights count with them. */
export async function speechSize(
  folder: string,
  { files }: FoundLayout,
): Promise<{ sizeBytes: number; mtimeS: number; ctimeMs: number }> {
  const names = Object.values(files).flatMap((name) => [
    name,
    `${name}.data`,
    name.replace(/(\.int8)?\.onnx$/i, '.weights'),
  ]);
  const found = await Promise.all(
    [...new Set(names)].map((name) => stat(join(folder, name)).catch(() => null)),
  );
  const all = found.filter((facts) => facts?.isFile());
  return {
    sizeBytes: all.reduce((sum, facts) => sum + (facts?.size ?? 0), 0),
    mtimeS: Math.floor(Math.max(0, ...all.map((facts) => facts?.mtimeMs ?? 0)) / 1000),
    ctimeMs: Math.max(0, ...all.map((facts) => facts?.ctimeMs ?? 0)),
  };
}

async function ownJson(path: string): Promise<unknown> {
  try {
    const { size } = await stat(`${path}.json`);
    return size > MAX_JSON_BYTES ? null : JSON.parse(await readFile(`${path}.json`, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * Reads the facts of the speech model in `folder`. Throws an Error of one line that names the file at fault: the native
 * library tells its reasons to nobody, and ends the process over some of them.
 */
export async function readSpeechFacts(folder: string): Promise<SpeechFacts> {
  const layout = await speechLayout(folder);
  if (layout === null) throw new Error('the folder holds no speech model');
  if (layout.missing.length > 0) throw new Error(`${layout.missing.join(' and ')} is missing`);
  const metadata =
    layout.key === null
      ? {}
      : await onnxMetadata(join(folder, layout.key)).catch((error: Error) => {
          throw new Error(`${layout.key}: ${readFault(error) ?? error.message}`, { cause: error });
        });
  const found = familyOf(layout, metadata);
  if ('reason' in found) throw new Error(found.reason);
  const empty = await emptyFile(folder, layout.files);
  if (empty !== null) throw new Error(`${empty} is empty`);
  const place = (name: string) => join(folder, name);
  const rate = Number(metadata.sample_rate);
  const model = layout.files.model;
  return {
    kind: 'speech',
    ...found,
    files: Object.fromEntries(Object.entries(layout.files).map(([role, name]) => [role, place(name)])),
    lexicons: layout.lexicons.map(place),
    rules: layout.rules.map(place),
    voices:
      found.type === 'tts'
        ? voicesOf(metadata, model === undefined ? null : await ownJson(place(model)))
        : [],
    languages: languagesOf(found.family, metadata),
    sampleRate: Number.isInteger(rate) && rate > 0 ? rate : null,
    language: metadata.language?.slice(0, 80) ?? null,
    quantization: /int8|quant/i.test(layout.key ?? '') ? 'int8' : null,
    sizeBytes: (await speechSize(folder, layout)).sizeBytes,
  };
}

/** The library ends the process over a language that a model does not know. */
function languagesOf(family: FoundFamily['family'], metadata: Readonly<Record<string, string>>): string[] {
  if (family === 'senseVoice') return ['auto', 'zh', 'en', 'ja', 'ko', 'yue'];
  if (family === 'canary') return ['en', 'es', 'de', 'fr'];
  if (family !== 'whisper' || metadata.is_multilingual !== '1') return [];
  return (metadata.all_language_codes ?? '').split(',').filter((code) => /^[a-z]{2,3}$/.test(code));
}

async function emptyFile(folder: string, files: SpeechFiles): Promise<string | null> {
  for (const name of Object.values(files)) {
    const facts = await stat(join(folder, name));
    if (facts.isFile() && facts.size === 0) return name;
  }
  return null;
}
