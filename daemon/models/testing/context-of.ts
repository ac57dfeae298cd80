import type { ContextMemory } from '../context-memory.ts';

/** Returns what a context takes, with the bytes of full layers, and values for the other layers in `over`. */
export const contextOf = (fullBytesPerToken: number, over: Partial<ContextMemory> = {}): ContextMemory => ({
  fullBytesPerToken,
  slidingBytesPerToken: 0,
  slidingWindow: 0,
  stateBytesPerSequence: 0,
  vocabulary: 0,
  stepBytes: 0,
  networkBytes: 0,
  outputBytes: 0,
  tokenizerBytes: 0,
  draftBytesPerToken: 0,
  ...over,
});
