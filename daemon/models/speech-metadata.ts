import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ESPEAK_DATA_MISSING, espeakDataFault, findEspeakData } from './espeak-data.ts';
import { onnxMetadata } from './onnx/metadata.ts';
import { piperSettingsName, piperVoiceOf, type VoiceInference, voiceInference } from './piper-voice.ts';
import { MissingPart, readFault } from './read-error.ts';
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
  /** A Whisper model whose decoder returns where it looks in the recording: the engine can compute the times of words. */
  readonly hasAlignment?: true;
  /** The file is a voice as Piper publishes it: the engine needs metadata and tokens made from its settings. */
  readonly isPiper?: true;
  /** How the voice speaks, when its settings state it. */
  readonly inference?: VoiceInference;
}

export interface SpeechOptions {
  /** Folders of the system that may contain espeak-ng-data. Default: the usual ones. */
  readonly systemFolders?: readonly string[];
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

/** Reads the JSON file of a voice. Null when it is missing, too large or invalid. */
export async function voiceSettings(path: string): Promise<unknown> {
  const settings = piperSettingsName(path);
  try {
    const { size } = await stat(settings);
    return size > MAX_JSON_BYTES ? null : JSON.parse(await readFile(settings, 'utf8'));
  } catch {
    return null;
  }
}

/** Returns size and last change of a Piper voice. Null without its settings. */
export async function piperSize(
  path: string,
): Promise<{ sizeBytes: number; mtimeS: number; ctimeMs: number } | null> {
  const [voice, settings] = await Promise.all(
    [path, piperSettingsName(path)].map((each) => stat(each).catch(() => null)),
  );
  if (!voice?.isFile() || !settings?.isFile()) return null;
  return {
    sizeBytes: voice.size + settings.size,
    mtimeS: Math.floor(Math.max(voice.mtimeMs, settings.mtimeMs) / 1000),
    ctimeMs: Math.max(voice.ctimeMs, settings.ctimeMs),
  };
}

/**
 * Reads the facts of a voice as Piper publishes it. Throws a one-line Error that names the faulty file, or
 * says that espeak-ng-data is missing.
 */
async function readPiperVoice(path: string, { systemFolders }: SpeechOptions): Promise<SpeechMetadata> {
  const settings = await voiceSettings(path);
  const found = piperVoiceOf(settings);
  if ('reason' in found) throw new Error(`${basename(piperSettingsName(path))}: ${found.reason}`);
  await onnxMetadata(path).catch((error: Error) => {
    throw new Error(`${basename(path)}: ${readFault(error) ?? error.message}`, { cause: error });
  });
  const dataDir = await findEspeakData(dirname(path), systemFolders);
  if (dataDir === null) throw new MissingPart(ESPEAK_DATA_MISSING);
  const { metadata } = found;
  return {
    kind: 'speech',
    type: 'tts',
    family: 'vits',
    modelType: null,
    files: { model: path, dataDir },
    lexicons: [],
    rules: [],
    voices: voicesOf(metadata, settings),
    languages: [],
    sampleRate: Number(metadata.sample_rate),
    language: languageOf(metadata),
    quantization: null,
    sizeBytes: (await stat(path)).size,
    isPiper: true,
    inference: voiceInference(settings),
  };
}

/**
 * Reads the facts of the speech model at a path: a folder, or a voice file of Piper. Throws a one-line Error
 * that names the faulty file: the native library does not report its reasons and ends the process for some of
 * them.
 */
export async function readSpeechMetadata(path: string, options: SpeechOptions = {}): Promise<SpeechMetadata> {
  return (await stat(path)).isDirectory() ? readFolder(path, options) : readPiperVoice(path, options);
}

async function readFolder(folder: string, options: SpeechOptions): Promise<SpeechMetadata> {
  const layout = await speechLayout(folder);
  if (layout === null) throw new Error('the folder contains no speech model');
  if (layout.missing.length > 0) throw new MissingPart(`${layout.missing.join(' and ')} is missing`);
  const metadata =
    layout.key === null
      ? {}
      : await onnxMetadata(join(folder, layout.key)).catch((error: Error) => {
          throw new Error(`${layout.key}: ${readFault(error) ?? error.message}`, { cause: error });
        });
  const found = familyOf(layout, metadata);
  if ('reason' in found) {
    // A Piper voice to which only the tokens were added has no metadata.
    const voice = layout.files.model;
    if (voice === undefined || !('metadata' in piperVoiceOf(await voiceSettings(join(folder, voice)))))
      throw new Error(found.reason);
    return readPiperVoice(join(folder, voice), options);
  }
  const empty = await emptyFile(folder, layout.files);
  if (empty !== null) throw new Error(`${empty} is empty`);
  const dataDir = await pronunciationOf(folder, layout, metadata, options);
  const place = (name: string) => join(folder, name);
  const rate = Number(metadata.sample_rate);
  const model = layout.files.model;
  const settings = found.type === 'tts' && model !== undefined ? await voiceSettings(place(model)) : null;
  return {
    kind: 'speech',
    ...found,
    files: {
      ...Object.fromEntries(Object.entries(layout.files).map(([role, name]) => [role, place(name)])),
      ...(dataDir !== null && { dataDir }),
    },
    lexicons: layout.lexicons.map(place),
    rules: layout.rules.map(place),
    voices: found.type === 'tts' ? voicesOf(metadata, settings) : [],
    ...(found.family === 'vits' && { inference: voiceInference(settings) }),
    languages: languagesOf(found.family, metadata),
    ...(found.family === 'whisper' &&
      Number(metadata.n_alignment_heads) > 0 && { hasAlignment: true as const }),
    sampleRate: Number.isInteger(rate) && rate > 0 ? rate : null,
    language: languageOf(metadata),
    quantization: /int8|quant/i.test(layout.key ?? '') ? 'int8' : null,
    sizeBytes: (await speechSize(folder, layout)).sizeBytes,
  };
}

/**
 * Returns the rules of pronunciation that a voice needs: those of its folder, else others. Null for a voice
 * that needs none. Throws when they are missing or not complete: the library then fails to load the voice.
 */
async function pronunciationOf(
  folder: string,
  { id, files }: FoundLayout,
  metadata: Readonly<Record<string, string>>,
  { systemFolders }: SpeechOptions,
): Promise<string | null> {
  // The library loads Kokoro and Kitten (layout `voices`) with these rules only.
  const isNeeded = id === 'voices' || metadata.has_espeak === '1' || /piper/i.test(metadata.comment ?? '');
  if (!isNeeded) return null;
  const own = files.dataDir === undefined ? null : join(folder, files.dataDir);
  if (own === null) {
    const found = await findEspeakData(folder, systemFolders);
    if (found === null) throw new MissingPart(ESPEAK_DATA_MISSING);
    return found;
  }
  const fault = await espeakDataFault(own);
  if (fault !== null) throw new MissingPart(fault);
  return own;
}

/** Returns the tag of the voice of espeak-ng, such as `en-US`, else the language as the file states it. */
function languageOf({ voice, language }: Readonly<Record<string, string>>): string | null {
  if (voice !== undefined && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/.test(voice)) {
    try {
      return Intl.getCanonicalLocales(voice)[0] ?? null;
    } catch {
      return voice;
    }
  }
  return language?.slice(0, 80) ?? null;
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
