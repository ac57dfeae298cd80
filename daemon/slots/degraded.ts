import type { Launch } from './engines/engine.ts';
import type { Loaded } from './runners/runner.ts';

/**
 * What a loaded slot asked for and does not get, so that nothing is taken away in silence (spec "Slots", devices): a
 * smaller window, the CPU in place of a GPU that was left to choose, a part of the layers only. `gpuNote` tells why this
 * machine's GPU may have been left out; null when it has none. Null when the slot got all.
 */
export function degradedBy(
  launch: Pick<Launch, 'device' | 'degraded'>,
  loaded: Pick<Loaded, 'device' | 'layers'>,
  gpuNote: string | null,
): string | null {
  const onCpu = launch.device === 'auto' && loaded.device === 'cpu' && gpuNote !== null;
  const { placed, total } = loaded.layers ?? { placed: 0, total: 0 };
  const notes = [
    launch.degraded,
    onCpu ? `The model runs on the CPU: ${gpuNote}` : null,
    placed > 0 && placed < total
      ? `${placed} of ${total} layers are on ${loaded.device}; the rest runs on the CPU, because its memory holds no more.`
      : null,
  ].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join(' ');
}
