import { headroomOf } from '../../../daemon/contract/memory-headroom.ts';
import type { LoadForecastView, MemorySumView, StayReasonName } from '../../../daemon/contract/slots.ts';
import { byteSize } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';

/** Why a slot stays loaded. */
export const STAYS: Record<StayReasonName, string> = {
  pinned: 'pinned',
  serving: 'serving requests',
  loading: 'loading',
  turn: 'loaded or used recently',
};

/** Joins names: "a", "a and b", "a, b and c". */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Describes the effect of a load at this moment. */
export function forecastSentence(forecast: LoadForecastView): { tone: Tone; text: string } {
  const names = listed(forecast.evicts);
  if (forecast.outcome === 'starts') return { tone: 'ok', text: 'Enough memory is free.' };
  if (forecast.outcome === 'evicts') {
    return { tone: 'attention', text: `${names} (idle) will be unloaded to make room.` };
  }
  if (forecast.outcome === 'waits') {
    const awaited = names === '' ? 'memory that is being freed' : names;
    return { tone: 'busy', text: `Waits for ${awaited}, then loads.` };
  }
  const short = forecast.sum.short > 0 ? ` ${byteSize(forecast.sum.short)} short.` : '';
  return { tone: 'failed', text: `Not enough memory, even after unloading everything else.${short}` };
}

/** One line of the memory sum; `sign` is its effect on the result. */
export interface SumLine {
  name: string;
  bytes: number;
  sign: '' | '−' | '+' | '=';
}

/** Smaller amounts do not decide about a load. */
const MIN_SHOWN_BYTES = 0.005 * 1024 ** 3;

/** The memory sum of admission: free memory minus reservations, compared with the need. */
export function sumLines(sum: MemorySumView): SumLine[] {
  const lines: SumLine[] = [
    { name: 'Free now', bytes: sum.free, sign: '' },
    { name: 'Reserved', bytes: sum.reserved, sign: '−' },
    { name: 'Safety margin', bytes: sum.kept_free, sign: '−' },
  ];
  if (sum.limit !== null)
    lines.push({ name: 'Left under the memory limit', bytes: sum.limit - sum.held, sign: '' });
  return [
    ...lines.filter(({ bytes, sign }) => sign !== '−' || bytes >= MIN_SHOWN_BYTES),
    { name: 'Available for this load', bytes: headroomOf(sum).bytes, sign: '=' },
    { name: 'Needed', bytes: sum.needed, sign: '' },
    ...(sum.short > 0 ? [{ name: 'Short by', bytes: sum.short, sign: '' } as const] : []),
  ];
}
