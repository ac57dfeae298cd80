import { createHash } from 'node:crypto';
import {
  CatalogFile,
  type CatalogFileEntryView,
  type CatalogFileView,
  type CatalogUpdateBody,
} from '../contract/catalog.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import type { Store } from '../store/store.ts';
import { type KnownModel, readCatalog, SHIPPED_CATALOG } from './catalog.ts';
import { describeError } from './hub/hub-errors.ts';
import { requestHub } from './hub/hub-exchange.ts';

/** What the hub said about a model that was about to be downloaded. */
export interface HubFacts {
  readonly sizeBytes: number;
  readonly licence: string | null;
}

/** The catalogue (docs/spec/contract.md#catalogue): the shipped list, or a newer one that the owner loaded. */
export interface Catalog {
  /** The list, with what the hub said since. The array is the same until something changes. */
  entries(): readonly KnownModel[];
  asOf(): string;
  isUpdated(): boolean;
  quickStart(): string;
  preferred(): CatalogFileView['preferred'];
  /** Returns why no engine here loads a repository. Null for any other. */
  refusal(repo: string): string | null;
  find(model: string): KnownModel | undefined;
  /** Replaces the list. Throws `catalog.*`; the list is then unchanged. */
  update(body: CatalogUpdateBody, signal: AbortSignal): Promise<void>;
  /** Restores the shipped list. */
  reset(): void;
  /** Corrects an entry by the answer of the hub. */
  correct(model: string, facts: HubFacts): void;
}

export interface CatalogDeps {
  readonly keyValue: Store['keyValue'];
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly log: Log;
  /** Path of the shipped list. Default: that of the installation. */
  readonly shipped?: string;
}

const LIST_KEY = 'catalog.list';
const FACTS_KEY = 'catalog.hub_facts';
const MAX_BYTES = 1 << 20;
/** Maximum number of entries with facts of the hub. */
const MAX_FACTS = 500;
const LIMIT_MS = 30_000;

const invalid = (message: string) => new GatewayError('catalog.invalid', { message });

/** Parses the text of a list. Throws `catalog.invalid` with the first fault. */
function parse(text: string): CatalogFileView {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('The file is not JSON. Choose a catalogue file.');
  }
  const read = CatalogFile.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid(`The file is not a catalogue: ${issue?.path.join('.') || 'it'}: ${issue?.message}.`);
}

/** Applies what the hub said to an entry. */
function corrected(entry: CatalogFileEntryView, facts: HubFacts | undefined): KnownModel {
  if (facts === undefined) return entry;
  return {
    ...entry,
    size_bytes: facts.sizeBytes,
    licence: facts.licence ?? entry.licence,
    unverified: entry.unverified.filter(
      (fact) => fact !== 'size' && !(fact === 'licence' && facts.licence !== null),
    ),
  };
}

/** Reads the address that the owner gave. Throws `catalog.unreachable` and `catalog.invalid`. */
async function download(
  outbound: CatalogDeps['outbound'],
  address: string,
  signal: AbortSignal,
): Promise<string> {
  const url = new URL(address);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  try {
    const { status, body, failure } = await requestHub({
      outbound,
      endpoint: { url: url.origin, token: null },
      path: `${url.pathname}${url.search}`,
      headers: { accept: 'application/json' },
      idleMs: LIMIT_MS,
      signal: limit,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BYTES) throw invalid('The file is larger than 1 MiB. Choose a catalogue file.');
      chunks.push(chunk as Buffer);
    }
    const broken = failure();
    if (broken !== null) throw broken;
    if (status !== 200)
      throw new GatewayError('catalog.unreachable', {
        message: `The address responded with status ${status}.`,
      });
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GatewayError) throw error;
    const message = describeError(error).replace(/\bhub\b/g, 'server');
    throw new GatewayError('catalog.unreachable', { message, cause: error });
  }
}

class StoredCatalog implements Catalog {
  readonly #deps: CatalogDeps;
  readonly #shipped: CatalogFileView;
  readonly #facts: Map<string, HubFacts>;
  #list: CatalogFileView;
  #entries: readonly KnownModel[] | null = null;

  constructor(deps: CatalogDeps) {
    this.#deps = deps;
    this.#shipped = readCatalog(deps.shipped ?? SHIPPED_CATALOG);
    this.#list = this.#stored() ?? this.#shipped;
    this.#facts = new Map(this.#storedFacts());
  }

  entries(): readonly KnownModel[] {
    this.#entries ??= this.#list.entries.map((entry) => corrected(entry, this.#facts.get(entry.model)));
    return this.#entries;
  }

  asOf(): string {
    return this.#list.as_of;
  }

  isUpdated(): boolean {
    return this.#list !== this.#shipped;
  }

  quickStart(): string {
    return this.#list.quick_start;
  }

  preferred(): CatalogFileView['preferred'] {
    return this.#list.preferred;
  }

  refusal(repo: string): string | null {
    return this.#list.refused.find((one) => one.repo === repo)?.reason ?? null;
  }

  find(model: string): KnownModel | undefined {
    return this.entries().find((entry) => entry.model === model);
  }

  async update({ text, url, sha256 }: CatalogUpdateBody, signal: AbortSignal): Promise<void> {
    const { keyValue, outbound } = this.#deps;
    const content = text ?? (await download(outbound, url ?? '', signal));
    if (createHash('sha256').update(content).digest('hex') !== sha256.toLowerCase())
      throw new GatewayError('catalog.checksum_mismatch');
    const list = parse(content);
    if (list.as_of < this.#shipped.as_of)
      throw invalid(`The list of ${list.as_of} is older than that of this version (${this.#shipped.as_of}).`);
    keyValue.set(LIST_KEY, content);
    this.#list = list;
    this.#entries = null;
  }

  reset(): void {
    this.#deps.keyValue.set(LIST_KEY, '');
    this.#list = this.#shipped;
    this.#entries = null;
  }

  correct(model: string, facts: HubFacts): void {
    const entry = this.#list.entries.find((one) => one.model === model);
    if (entry === undefined) return;
    this.#facts.delete(model);
    this.#facts.set(model, facts);
    for (const oldest of [...this.#facts.keys()].slice(0, Math.max(0, this.#facts.size - MAX_FACTS)))
      this.#facts.delete(oldest);
    this.#deps.keyValue.set(FACTS_KEY, JSON.stringify([...this.#facts]));
    this.#entries = null;
  }

  /** Returns the list that the owner loaded, unless this version comes with a newer one. */
  #stored(): CatalogFileView | null {
    const text = this.#deps.keyValue.get(LIST_KEY) ?? '';
    if (text === '') return null;
    try {
      const list = parse(text);
      return list.as_of < this.#shipped.as_of ? null : list;
    } catch (error) {
      this.#deps.log.warn({ reason: (error as Error).message }, 'the loaded catalogue cannot be used');
      return null;
    }
  }

  #storedFacts(): [string, HubFacts][] {
    try {
      const value: unknown = JSON.parse(this.#deps.keyValue.get(FACTS_KEY) ?? '[]');
      return Array.isArray(value) ? (value as [string, HubFacts][]) : [];
    } catch {
      return [];
    }
  }
}

/** Opens the catalogue. Throws when the shipped list cannot be read. */
export const openCatalog = (deps: CatalogDeps): Catalog => new StoredCatalog(deps);
