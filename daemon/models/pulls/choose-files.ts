import { basename, dirname } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import type { HubFile } from '../hub/hub.ts';
import { isPiperVoice, piperSettingsName } from '../piper-voice.ts';
import { layoutOf } from '../speech-layouts.ts';
import { modelStem, splitName, splitParts } from '../split-files.ts';
import { collide, isSafePath } from './hub-names.ts';

/** What a pull downloads from a repository. */
export interface Choice {
  /** Display label: the file, or the name of the repository for a folder. */
  readonly label: string;
  /** The registered file, relative to the repository. Null: the folder itself. */
  readonly main: string | null;
  readonly files: readonly HubFile[];
}

/** Maximum files of one model, including a projector and hundreds of pronunciation rules. */
const MAX_FILES = 1_500;
/** No disk holds more; a larger number is an error. */
const MAX_BYTES = 2 ** 46;
/** Preferred quantisations when none is requested, best quality for the size first. */
const PREFERRED = [
  'Q4_K_M',
  'Q4_K_S',
  'Q5_K_M',
  'MXFP4',
  'Q4_0',
  'IQ4_XS',
  'Q6_K',
  'Q8_0',
  'F16',
  'BF16',
  'F32',
];
const GGUF = /\.gguf$/i;
const PROJECTOR = /(^|[-_.])mmproj([-_.]|$)/i;
const NO_MODEL = /(^|[-_.])(imatrix|vocab|lora)([-_.]|$)/i;
/** Files of a weights folder for other engines. Never pickles or programs, which execute code. */
const WEIGHTS = /\.(safetensors|json|txt|model|jinja)$/i;
const SPARE = /^consolidated.*\.safetensors$|^README|(^|\/)\./i;
/** Folders that belong to a speech model. */
const SPEECH_FOLDERS = /^(espeak-ng-data|dict)\//;

const wrong = (message: string, details?: Record<string, unknown>) =>
  new GatewayError('pull.bad_name', { message, details });

/** Groups files with the same stem in the same folder: one model each. */
function modelsOf(files: readonly HubFile[]): Map<string, HubFile[]> {
  const models = new Map<string, HubFile[]>();
  for (const file of files) {
    const name = basename(file.path);
    if (!GGUF.test(name) || PROJECTOR.test(name) || NO_MODEL.test(name)) continue;
    const key = `${dirname(file.path)}/${modelStem(name)}`;
    models.set(key, [...(models.get(key) ?? []), file]);
  }
  return models;
}

/** Returns whether a file (or its folder) has this quantisation. */
function isQuantised(path: string, quantisation: string): boolean {
  const escaped = quantisation.replace(/[^A-Za-z0-9]/g, '\\$&');
  return new RegExp(`(^|[-_./])${escaped}([-_./]|$)`, 'i').test(path);
}

/** Returns all parts of a model in order. Throws when the repository lacks one. */
function whole(file: HubFile, files: readonly HubFile[]): HubFile[] {
  const parts = splitName(file.path) === null ? [file.path] : splitParts(file.path);
  return parts.map((path) => {
    const part = files.find((one) => one.path === path);
    if (part === undefined) throw wrong('The repository lacks a part of this model.', { missing: path });
    return part;
  });
}

const shortest = (candidates: readonly HubFile[]): HubFile | undefined =>
  [...candidates].sort((a, b) => a.path.length - b.path.length || (a.path < b.path ? -1 : 1))[0];

function firstParts(files: readonly HubFile[]): HubFile[] {
  return [...modelsOf(files).values()].map(
    (parts) => parts.find(({ path }) => (splitName(path)?.part ?? 1) === 1) ?? (parts[0] as HubFile),
  );
}

const QUANTISATION =
  /(?<=^|[-_./])((UD-)?(I?Q\d_[A-Z0-9_]+|I?Q\d|TQ\d_\d|MXFP4(_MOE)?|NVFP4|BF16|F16|F32))(?=[-_./]|$)/gi;

/** A GGUF model of a repository. */
export interface GgufChoice {
  /** All parts in order. */
  readonly parts: readonly HubFile[];
  /** The last quantisation in its name; null without one. */
  readonly quantization: string | null;
  readonly bytes: number;
}

/** Returns the complete GGUF models of a repository, smallest first, and its projector. Pure. */
export function ggufChoices(files: readonly HubFile[]): {
  choices: GgufChoice[];
  preferred: string | null;
  projector: HubFile | null;
} {
  const firsts = firstParts(files).filter(({ path }) => isSafePath(path));
  const choices = firsts.flatMap((first) => {
    const names = splitName(first.path) === null ? [first.path] : splitParts(first.path);
    const parts = names.flatMap((name) => files.find(({ path }) => path === name) ?? []);
    if (parts.length < names.length) return [];
    const quantization = first.path.match(QUANTISATION)?.at(-1)?.toUpperCase() ?? null;
    return [{ parts, quantization, bytes: parts.reduce((sum, { size }) => sum + size, 0) }];
  });
  const preferred = PREFERRED.map((name) => shortest(firsts.filter(({ path }) => isQuantised(path, name))));
  return {
    choices: choices.sort((a, b) => a.bytes - b.bytes),
    preferred: (preferred.find((one) => one !== undefined) ?? firsts[0])?.path ?? null,
    projector: projectorsOf(files)[0] ?? null,
  };
}

/** Returns the requested GGUF model. Null when the repository has none. */
function chooseGguf(files: readonly HubFile[], selector: string | null): HubFile | null {
  const firsts = firstParts(files);
  if (selector !== null) {
    const exact = files.find(({ path }) => path === selector && GGUF.test(path));
    const found = exact ?? shortest(firsts.filter(({ path }) => isQuantised(path, selector)));
    if (found !== undefined) return found;
    throw new GatewayError('pull.not_found', {
      message: 'The repository has no GGUF file of this name or quantisation.',
      details: { choices: firsts.map(({ path }) => path).slice(0, 64) },
    });
  }
  if (firsts.length === 0) return null;
  for (const quantisation of PREFERRED) {
    const found = shortest(firsts.filter(({ path }) => isQuantised(path, quantisation)));
    if (found !== undefined) return found;
  }
  if (firsts.length === 1) return firsts[0] as HubFile;
  throw wrong('Say which file of the repository: owner/name:FILE.', {
    choices: firsts.map(({ path }) => path).slice(0, 64),
  });
}

/**
 * Returns the half-precision projector, which is good enough and readable by every engine. Empty when there
 * is none.
 */
function projectorsOf(files: readonly HubFile[]): HubFile[] {
  const all = files.filter(({ path }) => GGUF.test(path) && PROJECTOR.test(basename(path)));
  const found = shortest(all.filter(({ path }) => isQuantised(path, 'f16'))) ?? shortest(all);
  return found === undefined ? [] : [found];
}

/** Returns the files of a speech model at the root of the repository. Null when there is none. */
function speechFiles(files: readonly HubFile[]): HubFile[] | null {
  const names = [...new Set(files.map(({ path }) => path.split('/')[0] as string))];
  const layout = layoutOf(names);
  if (layout === null || layout.missing.length > 0) return null;
  const roleFiles = Object.values(layout.files).flatMap((name) => [
    name,
    `${name}.data`,
    `${name}.json`,
    name.replace(/(\.int8)?\.onnx$/i, '.weights'),
  ]);
  const own = new Set([...roleFiles, ...layout.lexicons, ...layout.rules]);
  return files.filter(({ path }) => own.has(path) || SPEECH_FOLDERS.test(path));
}

/**
 * Returns the voice of Piper that is requested, with its settings: a file, or its name. Without a request, the
 * only voice of the repository. Null when there is none. Throws for several voices.
 */
function choosePiper(files: readonly HubFile[], selector: string | null): HubFile[] | null {
  const names = new Set(files.map(({ path }) => path));
  const voices = files.filter(({ path }) => isPiperVoice(path, names));
  const choices = voices.map(({ path }) => path).slice(0, 64);
  const requested =
    selector === null
      ? voices
      : voices.filter(({ path }) => [path, basename(path), modelStem(path)].includes(selector));
  if (requested.length > 1) throw wrong('Say which voice of the repository: owner/name:VOICE.', { choices });
  const voice = requested[0];
  return voice === undefined
    ? null
    : [voice, ...files.filter(({ path }) => path === piperSettingsName(voice.path))];
}

/** Returns the files of a safetensors folder. Null when it is none. */
function weightFiles(files: readonly HubFile[]): HubFile[] | null {
  const own = files.filter(
    ({ path }) => WEIGHTS.test(path) && !SPARE.test(path) && path.split('/').length <= 2,
  );
  const has = (pattern: RegExp) => own.some(({ path }) => pattern.test(path));
  return has(/^config\.json$/) && has(/^[^/]+\.safetensors$/) ? own : null;
}

/** Throws for unsafe files: names that lead elsewhere or collide, and invalid sizes. */
function checked(choice: Choice): Choice {
  const { files } = choice;
  const bad = files.find(({ path }) => !isSafePath(path));
  if (bad !== undefined) throw wrong('The repository contains a file name that cannot be used.');
  if (files.length > MAX_FILES) throw wrong(`The model has more than ${MAX_FILES} files.`);
  if (collide(files.map(({ path }) => path))) throw wrong('The repository has files whose names collide.');
  const sum = files.reduce((all, { size }) => all + size, 0);
  if (!files.every(({ size }) => Number.isSafeInteger(size) && size >= 0) || sum > MAX_BYTES)
    throw wrong('The repository names a size that is none.');
  return choice;
}

/**
 * Returns the files to download: the GGUF model that `selector` names (a file or a quantisation; null selects
 * a common one) with all its parts, else the speech model at the root, a voice of Piper, or the safetensors at
 * the root. Throws `pull.bad_name` and `pull.not_found`. Pure.
 */
export function chooseFiles(
  repo: string,
  files: readonly HubFile[],
  selector: string | null,
  projector = false,
): Choice {
  const named = selector === null ? null : choosePiper(files, selector);
  const gguf = named === null ? chooseGguf(files, selector) : null;
  if (gguf !== null) {
    const parts = whole(gguf, files);
    const main = (parts[0] as HubFile).path;
    return checked({ label: main, main, files: projector ? [...parts, ...projectorsOf(files)] : parts });
  }
  const speech = named === null ? speechFiles(files) : null;
  const voice = named ?? (speech === null ? choosePiper(files, null) : null);
  if (voice !== null) {
    const main = (voice[0] as HubFile).path;
    return checked({ label: main, main, files: voice });
  }
  const folder = speech ?? weightFiles(files);
  if (folder === null) throw wrong('The repository contains no supported model (GGUF, speech, safetensors).');
  return checked({ label: basename(repo), main: null, files: folder });
}
