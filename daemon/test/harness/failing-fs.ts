/** Injects a fault into the n-th file system call of this process. */
import fs from 'node:fs';
import fsp, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';

/**
 * What happens at the chosen call. An error code: the call fails, a write after half of its bytes. `cut`: this and all later calls
 * fail without effect, so the disk is as after the death of the process. `kill`: the process is killed.
 */
export type FaultKind = 'ENOSPC' | 'EIO' | 'EROFS' | 'cut' | 'kill';

export interface Fault {
  /** Only calls on paths below this folder count. */
  readonly root: string;
  readonly kind: FaultKind;
  /** Number of the call, from 1; 0 = none. */
  readonly at: number;
  /** Called before each call that counts, with its name. */
  readonly before?: (call: string) => void;
}

export interface FaultResult {
  /** Number of calls until the end. */
  readonly calls: number;
  /** The first call that the fault hit; null when there were fewer calls. */
  readonly hit: string | null;
  /** The error of `run`, or null. */
  readonly error: unknown;
}

type Call = (this: unknown, ...args: unknown[]) => unknown;
type Calls = Record<string, Call>;

const PATH = ['lstat', 'stat', 'realpath', 'readdir', 'rename', 'link', 'unlink', 'rm', 'mkdir', 'chmod'];
const FILE = ['writeFile', 'readFile', 'copyFile', 'open'];
const ON_HANDLE = ['write', 'writeFile', 'read', 'readFile', 'stat', 'sync', 'datasync', 'chmod', 'chown'];
const LAST_ON_HANDLE = ['truncate', 'close'];
const ON_FD = ['fsyncSync', 'writeSync', 'fstatSync', 'closeSync'];

/** Returns the prototype of all file handles. */
async function handleMethods(): Promise<Calls> {
  const handle = await fsp.open('/dev/null');
  await handle.close();
  return Object.getPrototypeOf(handle) as Calls;
}

const halfOf = (bytes: unknown): unknown =>
  bytes instanceof Uint8Array ? bytes.subarray(0, bytes.length >> 1) : String(bytes).slice(0, 8);

/** Yields the first piece, then throws. */
async function* firstOf(chunks: AsyncIterable<unknown>, error: Error): AsyncGenerator<unknown> {
  for await (const chunk of chunks) {
    yield chunk;
    throw error;
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Counts the calls and decides which of them fail. */
class Counter {
  readonly #fault: Fault;
  #isPaused = false;
  calls = 0;
  hit: string | null = null;

  constructor(fault: Fault) {
    this.#fault = fault;
  }

  isCounted(path: unknown): boolean {
    const { root } = this.#fault;
    return !this.#isPaused && (path === root || String(path).startsWith(root + sep));
  }

  /** Counts a call. Returns the error with which it fails, or null. */
  next(call: string): NodeJS.ErrnoException | null {
    const { at, kind, before } = this.#fault;
    this.calls += 1;
    this.#isPaused = true;
    before?.(call);
    this.#isPaused = false;
    const hit = this.calls === at || (kind === 'cut' && at > 0 && this.calls > at);
    if (!hit) return null;
    this.hit ??= call;
    if (kind === 'kill') process.kill(process.pid, 'SIGKILL');
    const code = kind === 'cut' ? 'EIO' : kind;
    return Object.assign(new Error(`${code}: made by a test, ${call}`), { code, syscall: call });
  }

  /** Whether a failing write writes half of its bytes first, like a full disk. */
  get writesHalf(): boolean {
    return this.#fault.kind !== 'cut';
  }
}

/** Replaces the real calls by counting ones. Returns a function that restores them. */
async function patch(counter: Counter): Promise<() => void> {
  const undo: (() => void)[] = [];
  const handles = new WeakSet<object>();
  const fds = new Set<unknown>();
  const replace = (owner: Calls, name: string, make: (real: Call) => Call) => {
    const real = owner[name] as Call;
    owner[name] = make(real);
    undo.push(() => {
      owner[name] = real;
    });
  };
  for (const name of [...PATH, ...FILE]) {
    replace(fsp as unknown as Calls, name, (real) => async (...args) => {
      if (!counter.isCounted(args[0])) return real(...args);
      const error = counter.next(name);
      if (error !== null) throw error;
      const result = await real(...args);
      if (name === 'open') handles.add(result as FileHandle);
      return result;
    });
    replace(fs as unknown as Calls, `${name}Sync`, (real) => (...args) => {
      if (!counter.isCounted(args[0])) return real(...args);
      const error = counter.next(name);
      if (error !== null && name === 'writeFile' && counter.writesHalf)
        real(args[0], halfOf(args[1]), args[2]);
      if (error !== null) throw error;
      const result = real(...args);
      if (name === 'open') fds.add(result);
      return result;
    });
  }
  for (const name of ON_FD) {
    replace(fs as unknown as Calls, name, (real) => (...args) => {
      if (!fds.has(args[0])) return real(...args);
      const error = counter.next(name);
      if (name === 'closeSync') fds.delete(args[0]);
      const result = error === null || name === 'closeSync' ? real(...args) : undefined;
      if (error !== null) throw error;
      return result;
    });
  }
  const methods = await handleMethods();
  for (const name of [...ON_HANDLE, ...LAST_ON_HANDLE]) {
    replace(
      methods,
      name,
      (real) =>
        async function (this: unknown, ...args: unknown[]) {
          if (!handles.has(this as object)) return real.apply(this, args);
          const error = counter.next(`handle.${name}`);
          if (error === null) return real.apply(this, args);
          if (counter.writesHalf && name === 'writeFile' && isAsyncIterable(args[0]))
            return real.apply(this, [firstOf(args[0], error), ...args.slice(1)]);
          if (counter.writesHalf && name.startsWith('write')) await real.call(this, halfOf(args[0]));
          // A failed close releases the descriptor too, as in the kernel.
          if (name === 'close') await real.call(this);
          throw error;
        },
    );
  }
  syncBuiltinESMExports();
  return () => {
    for (const each of undo) each();
    syncBuiltinESMExports();
  };
}

/** Calls `run` with one fault. One call at a time per process. Never rejects because of `run`. */
export async function withFault(fault: Fault, run: () => Promise<unknown>): Promise<FaultResult> {
  const counter = new Counter(fault);
  const restore = await patch(counter);
  try {
    await run();
    return { calls: counter.calls, hit: counter.hit, error: null };
  } catch (error) {
    return { calls: counter.calls, hit: counter.hit, error };
  } finally {
    restore();
  }
}
