import type { HardwareView } from '../contract/hardware.ts';
import { UNUSED_BY_DESIGN } from '../hardware/unused-reason.ts';

const UNSEEN =
  'llama.cpp does not use it: its backend did not load, or its memory is full (see the log of the slot).';

/**
 * Returns why this machine's GPU is not used although a model runs on the CPU, with the fix. Returns null
 * when there is no GPU that should be used, or before the first probe.
 */
export function unusedGpuMessage(view: HardwareView | null): string | null {
  const gpus = (view?.devices ?? []).filter(({ kind }) => kind === 'gpu');
  const usable = gpus.find(({ access, unused_reason }) => access === 'ok' && unused_reason === null);
  if (usable !== undefined) return `${usable.name} was found, but ${UNSEEN}`;
  const unused = gpus.find(
    ({ unused_reason }) => unused_reason !== null && !UNUSED_BY_DESIGN.has(unused_reason),
  );
  return unused === undefined ? null : `${unused.name} is not used. ${unused.unused_reason}`;
}
