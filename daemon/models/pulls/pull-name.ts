import { GatewayError } from '../../contract/errors.ts';
import { isRepoName } from './hub-names.ts';
import { type NamedEntry, ollamaTag } from './ollama-tag.ts';
import { readAddress } from './pull-address.ts';

/** A model to download. */
export interface ModelName {
  /** `owner/name` on the hub. */
  readonly repo: string;
  /** A file or a quantisation. Null: a common one. */
  readonly selector: string | null;
  /** A branch, tag or commit. Null when the name has none. */
  readonly revision: string | null;
}

export interface NameOptions {
  /** Address of the configured hub. Default: huggingface.co. */
  readonly hubUrl?: string;
  /** Entries of the catalogue, by which tags of Ollama are found. */
  readonly entries?: readonly NamedEntry[];
}

/** Programs whose commands are pasted, up to the name of the model. */
const COMMAND = /^(ollama (run|pull)|lms get|llama-(server|cli) -hf|(hf|huggingface-cli) download)\s+/;
const QUOTES = /^["'<`]+|["'>`]+$/g;
const HF_SCHEME = /^hf:\/\/([^/]+\/[^/@]+)(?:@([^/]+))?(?:\/(.+))?$/;

const bad = (message: string, details?: Record<string, unknown>): GatewayError =>
  new GatewayError('pull.bad_name', { message, details });

/** Splits `owner/name`, `owner/name:SELECTOR` and `owner/name/FILE.gguf`. */
function split(text: string): ModelName {
  const colon = text.indexOf(':');
  const path = (colon === -1 ? text : text.slice(0, colon)).replace(/\/+$/, '');
  const file = /^([^/]+\/[^/]+)\/(.+\.gguf)$/i.exec(path);
  if (colon === -1 && file !== null)
    return { repo: file[1] as string, selector: file[2] as string, revision: null };
  return { repo: path, selector: colon === -1 ? null : text.slice(colon + 1), revision: null };
}

/**
 * Parses the name of a model as people paste it: `owner/name`, with a file or quantisation after a colon, the address of
 * a page or file of the hub, `hf.co/…`, `hf://…`, or a tag of Ollama whose model is in the catalogue. Throws
 * `pull.bad_name` with the reason and the next step. Pure.
 */
export function parseModel(model: string, { hubUrl, entries = [] }: NameOptions = {}): ModelName {
  const text = model.trim().replace(QUOTES, '').replace(COMMAND, '').replace(QUOTES, '');
  const scheme = HF_SCHEME.exec(text);
  const found =
    scheme === null
      ? (readAddress(text, hubUrl) ?? split(text))
      : { repo: scheme[1] as string, selector: scheme[3] ?? null, revision: scheme[2] ?? null };
  const name = 'tag' in found ? byTag(found.tag, entries) : found;
  if (!name.repo.includes('/') || name.repo.startsWith('library/')) return byTag(text, entries);
  if (name.selector === '')
    throw bad('A file or a quantisation must follow the colon, as in owner/name:Q4_K_M.');
  if (isRepoName(name.repo)) return name;
  throw bad(
    `${JSON.stringify(name.repo.slice(0, 120))} is not the name of a repository. Use owner/name, as in the address of its page on the hub.`,
  );
}

/** Returns the model of the catalogue for a tag such as `qwen3.5:9b`. */
function byTag(tag: string, entries: readonly NamedEntry[]): ModelName {
  const { model, similar } = ollamaTag(tag, entries);
  if (model !== null) return split(model);
  const named = JSON.stringify(tag.slice(0, 120));
  throw bad(
    `${named} names no repository. Use owner/name of a repository on the hub; svcctl models search finds it.`,
    similar.length === 0 ? undefined : { suggestions: similar },
  );
}

/** Returns what to search for: the repository of a pasted address, otherwise the text itself. Pure. */
export function searchWords(text: string, options: NameOptions = {}): string {
  if (!text.includes('/')) return text;
  try {
    return parseModel(text, options).repo;
  } catch {
    return text;
  }
}
