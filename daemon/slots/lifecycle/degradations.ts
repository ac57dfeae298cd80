import type { Launch } from '../engines/engine.ts';
import type { LoadedEngine } from '../runners/runner.ts';

/**
 * Returns what a loaded slot requested and does not get, so that nothing is degraded silently
 * (docs/spec/contract.md#degraded): a smaller window, the CPU instead of a GPU that was left to choose, or
 * only a part of the layers. `gpuNote` says why this machine's GPU may be unused; null when there is no
 * reason. Returns null when the slot got everything.
 */
export function degradedBy(
  launch: Pick<Launch, 'device' | 'degraded'>,
  loaded: Pick<LoadedEngine, 'device' | 'layers'>,
  gpuNote: string | null,
): string | null {
  const onCpu = launch.device === 'auto' && loaded.device === 'cpu' && gpuNote !== null;
  const { placed, total } = loaded.layers ?? { placed: 0, total: 0 };
  const notes = [
    launch.degraded,
    onCpu ? `The model runs on the CPU: ${gpuNote}` : null,
    placed > 0 && placed < total
      ? `${placed} of ${total} layers are on ${loaded.device}; the rest run on the CPU, because its memory is full.`
      : null,
  ].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join(' ');
}
