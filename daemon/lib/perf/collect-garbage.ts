import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Frees unused memory now, also that of buffers. Blocks for up to about 100 ms. V8 alone may keep buffers until much later,
 * because it triggers collections by its own heap, in which they are small.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
