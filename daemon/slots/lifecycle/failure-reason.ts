const MAX_CHARACTERS = 300;
const DECISIVE =
  /\b(\w{0,60}error|\w{0,60}exception|failed|failure|fatal|cannot|can't|could not|unable|abort|not found|denied|invalid|unsupported|out of memory|oom|assert)/i;
const STACK_FRAME =
  /^\s*(at\s|\^|~+|node:|Node\.js v|#\d+ |throw\b|Emitted 'error' event|\d+: 0x|-{3,}|#?\s*$)/;
/** How V8, C++ and ggml report that memory ran out; the signal that follows adds nothing. */
const NO_MEMORY = /\b(out of memory|bad_alloc|insufficient memory|failed to allocate)\b/i;
const SIGNAL_DESCRIPTIONS: Readonly<Record<string, string>> = {
  SIGKILL: 'was killed (SIGKILL), perhaps for lack of memory',
  SIGSEGV: 'crashed (SIGSEGV)',
  SIGABRT: 'aborted (SIGABRT)',
  SIGBUS: 'crashed (SIGBUS)',
  SIGILL: 'needs processor instructions that this machine lacks (SIGILL)',
};

/** How a process ended. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Replaces absolute paths by their last part and limits the text to one line. */
export function scrubPaths(text: string): string {
  const oneLine = text.replace(/\s+/g, ' ').trim();
  const bare = oneLine
    .replace(/file:\/\/(?=\/)/g, '')
    .replace(
      /(?<![\w.:/])~?(?:\/[^\s/'"`:;,()[\]{}<>|=]+)+\/?/g,
      (path) => path.split('/').filter(Boolean).at(-1) ?? '',
    );
  return bare.length > MAX_CHARACTERS ? `${bare.slice(0, MAX_CHARACTERS - 1)}…` : bare;
}

/** Returns the last line that names a cause, otherwise the last informative line; null when there is none. */
export function decisiveLine(lines: readonly string[]): string | null {
  const informative = lines.filter((line) => !STACK_FRAME.test(line));
  return informative.findLast((line) => DECISIVE.test(line)) ?? informative.at(-1) ?? null;
}

/**
 * Returns the last lines that name a cause, oldest first, without absolute paths and limited in length.
 */
export const errorLines = (lines: readonly string[], max: number): string[] =>
  lines
    .filter((line) => DECISIVE.test(line) && !STACK_FRAME.test(line))
    .slice(-max)
    .map(scrubPaths);

/**
 * Returns why an engine ended without reporting a reason: its exit status and the decisive last line of its log,
 * without paths. SIGKILL comes from outside, so that no line explains it, except one about memory.
 */
export function exitReason(exit: ExitStatus, lines: readonly string[]): string {
  const how =
    exit.signal === null
      ? `ended with code ${exit.code ?? 'unknown'}`
      : (SIGNAL_DESCRIPTIONS[exit.signal] ?? `was ended by ${exit.signal}`);
  const outOfMemory = exit.signal === null ? undefined : lines.findLast((line) => NO_MEMORY.test(line));
  if (outOfMemory !== undefined)
    return scrubPaths(`The engine ran out of memory: ${outOfMemory.replace(/^[\s#]+/, '')}`);
  const line = exit.signal === 'SIGKILL' ? null : decisiveLine(lines);
  return scrubPaths(line === null ? `The engine ${how}.` : `The engine ${how}: ${line}`);
}
