import { randomUUID } from 'node:crypto';
import { constants, type ReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import { createExclusive } from '../../lib/fs/atomic-file.ts';
import { sweepTemps } from '../../lib/fs/temp-file.ts';
import type { Log } from '../../lib/log.ts';
import { isPng } from '../../lib/media/png.ts';

/** The id of a stored image; no other text becomes part of a path. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const FILE = /^(.{36})\.png$/;
/** Without blocking: a FIFO in the folder would occupy a thread permanently. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MAX_FILES = 100;
const MAX_BYTES = 2 ** 30;

export interface CachedImage {
  readonly length: number;
  /** The bytes, once. Destroy the stream if it is not read. */
  readonly stream: ReadStream;
}

export interface ImageCacheOptions {
  /** Created with the first image. */
  readonly folder: string;
  readonly log: Pick<Log, 'warn'>;
  /** Overrides the bounds of 100 files and 1 GiB (docs/spec/contract.md#image-cache). */
  readonly maxFiles?: number;
  readonly maxBytes?: number;
}

/**
 * Stores images on disk, bounded in number and bytes; the oldest is removed first
 * (docs/spec/contract.md#image-cache). An image that is being read stays readable to its end. The cache
 * survives a restart, ordered by file times.
 */
export class ImageCache {
  readonly #options: Required<ImageCacheOptions>;
  /** Bytes by id, oldest first. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;
  /** Serialises additions and removals. */
  #queue: Promise<unknown>;

  constructor(options: ImageCacheOptions) {
    this.#options = { maxFiles: MAX_FILES, maxBytes: MAX_BYTES, ...options };
    this.#queue = this.#load().catch((cause: unknown) => {
      options.log.warn({ err: cause }, 'stored images could not be listed');
    });
  }

  /**
   * Stores a checked image and returns its id. Rejects with 503 `image.no_room`, whose cause is the disk
   * error; nothing is stored then.
   */
  store(png: Buffer): Promise<string> {
    const retained = this.#queue
      .then(() => this.#add(png))
      .catch((cause: unknown) => {
        throw new GatewayError('image.no_room', { retryAfterS: 10, cause });
      });
    this.#queue = retained.catch(() => {});
    return retained;
  }

  /** Opens a stored image; null unless the text is the id of one. Rejects with disk errors. */
  async open(id: string): Promise<CachedImage | null> {
    if (!ID.test(id)) return null;
    const handle = await open(this.#path(id), OPEN_FLAGS).catch(nullIfAbsent);
    if (handle === null) return null;
    try {
      const stats = await handle.stat();
      const head = Buffer.alloc(8);
      if (stats.isFile()) await handle.read(head, 0, head.length, 0);
      if (!isPng(head)) {
        await handle.close();
        return null;
      }
      return { length: stats.size, stream: handle.createReadStream({ start: 0 }) as ReadStream };
    } catch (cause) {
      await handle.close();
      throw cause;
    }
  }

  #path(id: string): string {
    return join(this.#options.folder, `${id}.png`);
  }

  async #load(): Promise<void> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch(() => []);
    if (names.length === 0) return;
    await sweepTemps(folder);
    const found: { id: string; bytes: number; at: number }[] = [];
    for (const name of names) {
      const id = FILE.exec(name)?.[1];
      if (id === undefined || !ID.test(id)) continue;
      const stats = await lstat(this.#path(id)).catch(() => null);
      if (stats?.isFile()) found.push({ id, bytes: stats.size, at: stats.mtimeMs });
    }
    for (const { id, bytes } of found.sort((a, b) => a.at - b.at)) this.#count(id, bytes);
    await this.#evict(0, 0);
  }

  async #add(png: Buffer): Promise<string> {
    const { folder, maxBytes } = this.#options;
    if (png.length > maxBytes) throw new Error('the image is larger than the whole image cache');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#evict(1, png.length);
    const id = randomUUID();
    if (!(await createExclusive(this.#path(id), png, 0o600)))
      throw new Error('an image with this name exists');
    this.#count(id, png.length);
    return id;
  }

  #count(id: string, bytes: number): void {
    this.#sizes.set(id, bytes);
    this.#bytes += bytes;
  }

  async #evict(files: number, bytes: number): Promise<void> {
    const { maxFiles, maxBytes } = this.#options;
    for (const [oldest, its] of this.#sizes) {
      if (this.#sizes.size + files <= maxFiles && this.#bytes + bytes <= maxBytes) return;
      await unlink(this.#path(oldest)).catch(nullIfAbsent);
      this.#sizes.delete(oldest);
      this.#bytes -= its;
    }
  }
}

/** Returns null for a missing file or a symbolic link; throws any other disk error. */
function nullIfAbsent(cause: NodeJS.ErrnoException): null {
  // A socket cannot be opened.
  if (['ENOENT', 'ELOOP', 'ENXIO'].includes(String(cause.code))) return null;
  throw cause;
}
