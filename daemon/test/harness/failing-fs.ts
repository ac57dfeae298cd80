/** Calls of the file system that fail or end the process at the n-th one, whoever makes them. */
import fs from 'node:fs';
import fsp, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';

/**
 * What happens at the chosen call: it fails with this code, after half of its bytes where it writes; `cut`: it and all after it
 * do nothing and fail, so that what is on the disk is what a process that died there leaves; `kill`: the process dies there.
 */
export type FaultKind = 'ENOSPC' | 'EIO' | 'EROFS' | 'cut' | 'kill';

export interface Fault {
  /** Only calls on what lies below this folder count. */
  readonly root: string;
  readonly kind: FaultKind;
  /** Which call, from 1; 0 = none. */
  readonly at: number;
  /** Called before each call that counts, with its name. */
  readonly before?: (call: string) => void;
}

export interface Faulted {
  /** Calls that were made until the end. */
  readonly calls: number;
  /** The call that the fault hit first; null when there were fewer. */
  readonly hit: string | null;
  /** What `run` threw; null when it did not. */
  readonly error: unknown;
}

type Call = (this: unknown, ...args: unknown[]) => unknown;
type Calls = Record<string, Call>;

const PATH = ['lstat', 'stat', 'realpath', 'readdir', 'rename', 'link', 'unlink', 'rm', 'mkdir', 'chmod'];
const FILE = ['writeFile', 'readFile', 'copyFile', 'open'];
const ON_HANDLE = ['write', 'writeFile', 'read', 'readFile', 'stat', 'sync', 'datasync', 'chmod', 'chown'];
const LAST_ON_HANDLE = ['truncate', 'close'];
const ON_FD = ['fsyncSync', 'writeSync', 'fstatSync', 'closeSync'];

/** Where the methods of all handles lie. */
async function handleMethods(): Promise<Calls> {
  const handle = await fsp.open('/dev/null');
  await handle.close();
  return Object.getPrototypeOf(handle) as Calls;
}

const halfOf = (bytes: unknown): unknown =>
  bytes instanceof Uint8Array ? bytes.subarray(0, bytes.length >> 1) : String(bytes).slice(0, 8);

/** What comes in pieces ends with the error after the first. */
async function* firstOf(pieces: AsyncIterable<unknown>, error: Error): AsyncGenerator<unknown> {
  for await (const piece of pieces) {
    yield piece;
    throw error;
  }
}

const inPieces = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Counts the calls and decides which of them fail. */
class Counter {
  readonly #fault: Fault;
  #looking = false;
  calls = 0;
  hit: string | null = null;

  constructor(fault: Fault) {
    this.#fault = fault;
  }

  concerns(path: unknown): boolean {
    const { root } = this.#fault;
    return !this.#looking && (path === root || String(path).startsWith(root + sep));
  }

  /** The error with which this call fails, else null. */
  next(call: string): NodeJS.ErrnoException | null {
    const { at, kind, before } = this.#fault;
    this.calls += 1;
    this.#looking = true;
    before?.(call);
    this.#looking = false;
    const hit = this.calls === at || (kind === 'cut' && at > 0 && this.calls > at);
    if (!hit) return null;
    this.hit ??= call;
    if (kind === 'kill') process.kill(process.pid, 'SIGKILL');
    const code = kind === 'cut' ? 'EIO' : kind;
    return Object.assign(new Error(`${code}: made by a test, ${call}`), { code, syscall: call });
  }

  /** Whether what fails writes a part first, as a disk does that becomes full. */
  get partly(): boolean {
    return this.#fault.kind !== 'cut';
  }
}

/** Puts counting calls in the place of the real ones; the answer puts those back. */
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
      if (!counter.concerns(args[0])) return real(...args);
      const error = counter.next(name);
      if (error !== null) throw error;
      const made = await real(...args);
      if (name === 'open') handles.add(made as FileHandle);
      return made;
    });
    replace(fs as unknown as Calls, `${name}Sync`, (real) => (...args) => {
      if (!counter.concerns(args[0])) return real(...args);
      const error = counter.next(name);
      if (error !== null && name === 'writeFile' && counter.partly) real(args[0], halfOf(args[1]), args[2]);
      if (error !== null) throw error;
      const made = real(...args);
      if (name === 'open') fds.add(made);
      return made;
    });
  }
  for (const name of ON_FD) {
    replace(fs as unknown as Calls, name, (real) => (...args) => {
      if (!fds.has(args[0])) return real(...args);
      const error = counter.next(name);
      if (name === 'closeSync') fds.delete(args[0]);
      const done = error === null || name === 'closeSync' ? real(...args) : undefined;
      if (error !== null) throw error;
      return done;
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
          if (counter.partly && name === 'writeFile' && inPieces(args[0]))
            return real.apply(this, [firstOf(args[0], error), ...args.slice(1)]);
          if (counter.partly && name.startsWith('write')) await real.call(this, halfOf(args[0]));
          // The descriptor is gone whatever the call says, as in the system.
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

/** Does `run` with one fault. One at a time in a process; never rejects because of `run`. */
export async function withFault(fault: Fault, run: () => Promise<unknown>): Promise<Faulted> {
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
