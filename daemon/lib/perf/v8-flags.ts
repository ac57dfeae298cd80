import { setFlagsFromString } from 'node:v8';

/**
 * What the command line that starts the daemon says to V8, because later it is too late: a quarter of the usual room for the young.
 * A thousand streams take 15 MB less than with half of it and 95 MB less than with all, recordings of 25 MB ten; small chats
 * cost the same.
 */
export const START_FLAG = '--max-semi-space-size=8';

/**
 * What V8 is told of a program that passes bodies on, large and small. Without what is said of memory, two thirds of the CPU of a chat
 * of 4 MB went into full collections that freed nothing but bodies.
 */
export const FLAGS: readonly string[] = [
  // Bodies lie outside the heap. By default each 32 MiB of them begin a full collection, however small the heap is;
  // counted with the heap, they go with the cheap ones of the young generation.
  '--external-memory-accounted-in-global-limit',
  // A full collection is due when heap and bodies are a third as much again as the last one has left. Three times as much costs a chat of
  // 4 MB a third less CPU, and a thousand streams twice the memory from their third thousand on: what has ended lies around so long.
  // Between a fifth and a half the chat costs the same.
  '--heap-growing-percent=30',
  // Where what a line of code allocates lives long once, V8 puts all of its later objects among the old at once. Nearly all objects of
  // a request die with it: 1 KB of each made eight full collections due in 40,000 small chats where one or two are now, and each
  // marks for 50 ms beside those who wait.
  '--no-allocation-site-pretenuring',
  // A request goes through some hundred short functions. With half as much inlined as this, which is the default, a small chat costs 4 to 6 %
  // more CPU; with twice as much the same.
  '--max-inlined-bytecode-size-cumulative=2000',
];

/**
 * Tells V8 how to collect and to inline in this process from now on. To be called once the program is read in and its compiled code is
 * kept: such code, Node's own too, holds for the flags that it was made with (a start takes 50 ms longer otherwise). Bounds stay: growth is in
 * terms of what lives.
 */
export function applyV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
