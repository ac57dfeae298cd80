import { roomOf } from '../../../daemon/contract/memory-room.ts';
import type { LoadForecastView, MemorySumView, StayReasonName } from '../../../daemon/contract/slots.ts';
import { gib } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';

/** Why a slot keeps its memory, as the end of "it …". */
export const STAYS: Record<StayReasonName, string> = {
  pinned: 'is pinned and never leaves',
  serving: 'is answering',
  loading: 'is loading',
  turn: 'has only just been loaded or used',
};

/** Names as one reads them aloud: "a", "a and b", "a, b and c". */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** What a load would do at this moment, in one sentence. */
export function forecastSentence(forecast: LoadForecastView): { tone: Tone; text: string } {
  const names = listed(forecast.evicts);
  if (forecast.outcome === 'starts')
    return { tone: 'ok', text: 'It fits: no other slot is unloaded for it.' };
  if (forecast.outcome === 'evicts') {
    const many = forecast.evicts.length > 1 ? 'are idle and are' : 'is idle and is';
    return { tone: 'attention', text: `${names} ${many} unloaded first to make room.` };
  }
  if (forecast.outcome === 'waits') {
    const whom = names === '' ? 'memory that is being freed' : names;
    return { tone: 'busy', text: `It waits for ${whom}, then loads.` };
  }
  const short = forecast.sum.short > 0 ? ` ${gib(forecast.sum.short)} are missing.` : '';
  return { tone: 'failed', text: `It is refused: it does not fit, whoever leaves.${short}` };
}

/** One line of the memory sum; `sign` says what it does to what is left. */
export interface SumLine {
  name: string;
  bytes: number;
  sign: '' | '−' | '+' | '=';
}

/** What is less is no digit of any number beside it: half of 0.01 GiB. */
const SEEN = 0.005 * 1024 ** 3;

/** The sum as admission makes it: free, less what is spoken for, compared with what is needed. */
export function sumLines(sum: MemorySumView): SumLine[] {
  const lines: SumLine[] = [
    { name: 'Free now', bytes: sum.free, sign: '' },
    { name: 'Promised to others', bytes: sum.reserved, sign: '−' },
    { name: 'Always kept free', bytes: sum.kept_free, sign: '−' },
  ];
  if (sum.limit !== null)
    lines.push({ name: 'Left below the limit for slots', bytes: sum.limit - sum.held, sign: '' });
  return [
    ...lines.filter(({ bytes, sign }) => sign !== '−' || bytes >= SEEN),
    { name: 'Room for this load', bytes: roomOf(sum).bytes, sign: '=' },
    { name: 'Needed', bytes: sum.needed, sign: '' },
    ...(sum.short > 0 ? [{ name: 'Short by', bytes: sum.short, sign: '' } as const] : []),
  ];
}
