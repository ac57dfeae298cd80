import { setFlagsFromString } from 'node:v8';

/**
 * V8 option on the command line of the daemon, because it has no effect after the start: a quarter of the
 * default size for the young generation. A thousand streams need 15 MB less than with half and 95 MB less
 * than with the default, recordings of 25 MB need 10 MB less. Small chats cost the same.
 */
export const START_FLAG = '--max-semi-space-size=8';

/**
 * V8 flags for a program that forwards bodies, large and small. Without the memory flags, two thirds of the
 * CPU time of a 4 MB chat went into full collections that freed only bodies.
 */
export const FLAGS: readonly string[] = [
  // Bodies are external memory. By default each 32 MiB of them trigger a full collection, regardless of the
  // heap size. Counted with the heap, they are freed by cheap collections of the young generation.
  '--external-memory-accounted-in-global-limit',
  // A full collection starts when heap and bodies have grown by 30 % since the last one. Three times that
  // costs a 4 MB chat a third less CPU time, but doubles the memory of a thousand streams from the third
  // thousand on, because ended streams are retained longer. Between 20 % and 50 % the chat costs the same.
  '--heap-growing-percent=30',
  // When objects of an allocation site survive once, V8 allocates all later ones directly in the old
  // generation. Nearly all objects of a request die with it. 1 KB of each caused eight full collections in
  // 40,000 small chats instead of one or two, and each one marks for 50 ms while requests wait.
  '--no-allocation-site-pretenuring',
  // A request passes through about a hundred short functions. With half of this value, the default, a small
  // chat costs 4 to 6 % more CPU time. With twice this value it costs the same.
  '--max-inlined-bytecode-size-cumulative=2000',
];

/**
 * Applies the V8 flags to this process. Call it after the program is loaded and its compile cache is flushed:
 * compiled code, including Node's own, is only valid for the flags that it was compiled with, and a start
 * would take 50 ms longer. Heap limits stay unchanged.
 */
export function applyV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
