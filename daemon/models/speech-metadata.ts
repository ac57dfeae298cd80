import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onnxMetadata } from './onnx/metadata.ts';
import { readFault } from './read-error.ts';
import { type FoundFamily, familyOf } from './speech-families.ts';
import { type FoundLayout, layoutOf, type SpeechFiles } from './speech-layouts.ts';
import { voicesOf } from './speech-voices.ts';

/** Maximum entries read of one folder. */
const MAX_ENTRIES = 4_096;
const MAX_JSON_BYTES = 4 << 20;

/** The facts in the files of a speech model. Paths are absolute. */
export interface SpeechMetadata extends FoundFamily {
  readonly kind: 'speech';
  readonly files: SpeechFiles;
  readonly lexicons: readonly string[];
  readonly rules: readonly string[];
  /** Voices by speaker number. Empty for a recogniser. */
  readonly voices: readonly string[];
  /** Codes of the languages that can be selected. Empty when there is no selection. */
  readonly languages: readonly string[];
  readonly sampleRate: number | null;
  readonly language: string | null;
  readonly quantization: string | null;
  /** Bytes of the loaded files. */
  readonly sizeBytes: number;
}

/** Returns the speech model in a folder by its file names. Null when there is none, or no such folder. */
export async function speechLayout(folder: string): Promise<FoundLayout | null> {
  const names = await readdir(folder).catch(() => []);
  return layoutOf(names.slice(0, MAX_ENTRIES));
}

/** Returns size and last change of the files that are loaded from a folder, including external weights. */
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
  const all = found.filter((stats) => stats?.isFile());
  return {
    sizeBytes: all.reduce((sum, stats) => sum + (stats?.size ?? 0), 0),
    mtimeS: Math.floor(Math.max(0, ...all.map((stats) => stats?.mtimeMs ?? 0)) / 1000),
    ctimeMs: Math.max(0, ...all.map((stats) => stats?.ctimeMs ?? 0)),
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
 * Reads the facts of the speech model in `folder`. Throws a one-line Error that names the faulty file: the
 * native library does not report its reasons and ends the process for some of them.
 */
export async function readSpeechMetadata(folder: string): Promise<SpeechMetadata> {
  const layout = await speechLayout(folder);
  if (layout === null) throw new Error('the folder contains no speech model');
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

/** The library ends the process for a language that a model does not know. */
function languagesOf(family: FoundFamily['family'], metadata: Readonly<Record<string, string>>): string[] {
  if (family === 'senseVoice') return ['auto', 'zh', 'en', 'ja', 'ko', 'yue'];
  if (family === 'canary') return ['en', 'es', 'de', 'fr'];
  if (family !== 'whisper' || metadata.is_multilingual !== '1') return [];
  return (metadata.all_language_codes ?? '').split(',').filter((code) => /^[a-z]{2,3}$/.test(code));
}

async function emptyFile(folder: string, files: SpeechFiles): Promise<string | null> {
  for (const name of Object.values(files)) {
    const stats = await stat(join(folder, name));
    if (stats.isFile() && stats.size === 0) return name;
  }
  return null;
}
