import { GatewayError } from '../../contract/errors.ts';
import type { HubModelView } from '../../contract/pulls.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { Settings } from '../../settings/settings.ts';
import type { HubEndpoint } from './hop.ts';
import { hubError } from './hub-errors.ts';
import { hubFetch } from './hub-fetch.ts';

/** A file of a repository at one commit. */
export interface HubFile {
  /** The hub's name of the file; not validated. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the content, for large files. Null when the hub provides only `blob`. */
  readonly sha256: string | null;
  /** Git's object id: SHA-1 over `blob SIZE\0` and the content. For a large file it is that of its pointer. */
  readonly blob: string | null;
}

/** A repository at one commit. */
export interface HubRepo {
  readonly repo: string;
  /** The commit, 40 hex digits. */
  readonly revision: string;
  readonly licence: string | null;
  readonly gated: boolean;
  readonly files: readonly HubFile[];
}

export interface Hub {
  /** Throws `pull.hub_unreachable` when the configured address cannot be used. */
  endpoint(): HubEndpoint;
  /** Returns the content of a repository at a branch, tag or commit. Throws `pull.*`. */
  repo(repo: string, revision: string, signal: AbortSignal): Promise<HubRepo>;
  /** Returns repositories whose names match, most downloaded first, at most `limit`. Throws `pull.*`. */
  search(query: string, limit: number, signal: AbortSignal): Promise<HubModelView[]>;
}

export interface HubOptions {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly settings: Pick<Settings, 'value' | 'views'>;
}

const LIMIT_MS = 30_000;
/** Maximum files read of one repository. */
const MAX_FILES = 20_000;
const COMMIT = /^[0-9a-f]{40}$/;
const SHA256 = /^[0-9a-f]{64}$/;

const matching = (pattern: RegExp, text: unknown): string | null =>
  typeof text === 'string' && pattern.test(text) ? text : null;

/** Returns a short text of the hub. Null for anything else. */
const short = (value: unknown): string | null =>
  typeof value === 'string' && /^[\x20-\x7e]{1,80}$/.test(value) ? value : null;

function licenceOf(info: { cardData?: unknown; tags?: readonly string[] }): string | null {
  const card = (info.cardData ?? {}) as { license?: unknown; license_name?: unknown };
  const named = short(card.license) ?? short(info.tags?.find((tag) => tag.startsWith('license:'))?.slice(8));
  return named === 'other' ? (short(card.license_name) ?? named) : named;
}

const unusableAddress = (problem: string): string =>
  `The address of the hub cannot be used: ${problem.replace(/; the default is used$/, '')}. Correct HF_ENDPOINT in api.env, or models.hub_url.`;

/**
 * Creates the client of the configured model hub. The client library builds the requests, and all traffic
 * goes through `outbound`.
 */
export function createHub({ outbound, settings }: HubOptions): Hub {
  const endpoint = (): HubEndpoint => {
    // Another hub must not get the token, and would have other files.
    const problem = settings.views().find(({ name }) => name === 'hubUrl')?.problem;
    if (problem !== undefined)
      throw new GatewayError('pull.hub_unreachable', { message: unusableAddress(problem), noRetry: true });
    return {
      url: settings.value('hubUrl').replace(/\/+$/, ''),
      token: settings.value('hubToken') || null,
      storageHosts: settings.value('hubStorageHosts'),
    };
  };
  const call = async <T>(
    signal: AbortSignal,
    request: (
      lib: typeof import('@huggingface/hub'),
      at: { hubUrl: string; fetch: typeof fetch },
    ) => Promise<T>,
  ): Promise<T> => {
    const at = endpoint();
    try {
      const lib = await import('@huggingface/hub');
      return await request(lib, {
        hubUrl: at.url,
        fetch: hubFetch({ outbound, endpoint: at, limitMs: LIMIT_MS, signal }),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw hubError(error);
    }
  };
  return {
    endpoint: endpoint,
    repo: (name, asking, signal) =>
      call(signal, async (lib, at) => {
        const fields = ['sha', 'cardData', 'tags'] as const;
        const info = await lib.modelInfo({ name, revision: asking, additionalFields: [...fields], ...at });
        const revision = matching(COMMIT, info.sha);
        if (revision === null) throw new TypeError('the hub names no commit');
        const files: HubFile[] = [];
        for await (const entry of lib.listFiles({ repo: name, recursive: true, revision, ...at })) {
          if (entry.type !== 'file' || files.length >= MAX_FILES) continue;
          files.push({
            path: String(entry.path),
            size: Number(entry.lfs?.size ?? entry.size),
            sha256: matching(SHA256, entry.lfs?.oid),
            blob: entry.lfs === undefined ? matching(COMMIT, entry.oid) : null,
          });
        }
        return { repo: name, revision, licence: licenceOf(info), gated: Boolean(info.gated), files };
      }),
    search: (query, limit, signal) =>
      call(signal, async (lib, at) => {
        const found: HubModelView[] = [];
        const search = { query, tags: ['gguf'] };
        const fields = ['tags'] as const;
        for await (const one of lib.listModels({
          search,
          sort: 'downloads',
          limit,
          additionalFields: [...fields],
          ...at,
        })) {
          found.push({
            repo: String(one.name),
            downloads: Number(one.downloads) || 0,
            likes: Number(one.likes) || 0,
            gated: Boolean(one.gated),
            task: short(one.task),
            licence: licenceOf(one),
            updated: Number.isNaN(one.updatedAt.getTime()) ? null : one.updatedAt.toISOString(),
          });
        }
        return found;
      }),
  };
}
