import { GatewayError } from '../../contract/errors.ts';

const DEFAULT_HUB = 'https://huggingface.co';
/** Hosts of the public hub. They are read as the configured hub. */
const HUB_HOSTS: ReadonlySet<string> = new Set([
  'huggingface.co',
  'www.huggingface.co',
  'hf.co',
  'www.hf.co',
]);
const OLLAMA_HOSTS: ReadonlySet<string> = new Set(['ollama.com', 'www.ollama.com', 'registry.ollama.ai']);
/** First path segments of the hub that are no owner, and what their pages are. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  datasets: 'a dataset',
  spaces: 'a space',
  collections: 'a collection',
  papers: 'a paper',
  blog: 'a blog post',
  docs: 'documentation',
  models: 'a list of models',
};
/** Pages below a repository that name a revision, and a file or folder. */
const FILE_PAGES: ReadonlySet<string> = new Set(['tree', 'blob', 'resolve', 'raw']);

export type PastedAddress =
  | { readonly repo: string; readonly selector: string | null; readonly revision: string | null }
  /** A tag of Ollama. */
  | { readonly tag: string };

const bad = (message: string): GatewayError => new GatewayError('pull.bad_name', { message });

/**
 * Reads the address of a page or file of the hub, with or without a scheme. Null for text that is no address. Throws
 * `pull.bad_name` for an address that names no model. Pure.
 */
export function readAddress(text: string, hubUrl = DEFAULT_HUB): PastedAddress | null {
  const url = urlOf(text, hubUrl);
  if (url === null) return null;
  const segments = segmentsOf(url);
  if (OLLAMA_HOSTS.has(url.hostname)) return ollamaAddress(segments);
  const hub = new URL(hubUrl);
  const isMirror = url.host === hub.host;
  if (!isMirror && !HUB_HOSTS.has(url.hostname))
    throw bad(
      `Models are downloaded from ${hub.host}, not from ${url.host}. Give owner/name on the hub, set HF_ENDPOINT for a mirror, or download the file yourself and run: svcctl models register PATH`,
    );
  const base = isMirror ? segmentsOf(hub) : [];
  const isBelow = base.every((segment, index) => segments[index] === segment);
  return repository(isBelow ? segments.slice(base.length) : segments, url);
}

/** Returns the URL that a text is. Without a scheme, only for hosts that are known. */
function urlOf(text: string, hubUrl: string): URL | null {
  if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : null;
  const host = text.split('/')[0]?.toLowerCase() ?? '';
  const isKnown = HUB_HOSTS.has(host) || OLLAMA_HOSTS.has(host) || host === new URL(hubUrl).host;
  return isKnown && URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : null;
}

/** Returns the decoded path segments. */
function segmentsOf({ pathname }: URL): string[] {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    throw bad('The address is not encoded correctly. Copy it again.');
  }
}

function ollamaAddress([owner, name]: readonly string[]): PastedAddress {
  if (owner !== 'library' || name === undefined)
    throw bad(
      'Models of Ollama accounts are not on the hub. Find the model with svcctl models search, and use owner/name.',
    );
  return { tag: name };
}

function repository(segments: readonly string[], url: URL): PastedAddress {
  const path = segments[0] === 'api' && segments[1] === 'models' ? segments.slice(2) : segments;
  const [owner, last, page, revision, ...file] = path;
  const other = Object.hasOwn(OTHER_PAGES, owner ?? '') ? OTHER_PAGES[owner as string] : undefined;
  if (other !== undefined)
    throw bad(
      `This is the address of ${other}, not of a model. Open the page of the model and copy its address.`,
    );
  if (owner === undefined || last === undefined)
    throw bad(
      'The address names no repository. Copy the address of the page of the model: https://huggingface.co/owner/name',
    );
  const colon = last.indexOf(':');
  const repo = `${owner}/${colon === -1 ? last : last.slice(0, colon)}`;
  const quantisation = colon === -1 ? null : last.slice(colon + 1);
  const shown = url.searchParams.get('show_file_info');
  const isFilePage = page !== undefined && FILE_PAGES.has(page);
  const selector = isFilePage && file.length > 0 ? file.join('/') : (quantisation ?? shown);
  return { repo, selector, revision: isFilePage ? (revision ?? null) : null };
}
