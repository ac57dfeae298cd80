import type { RequestRecord, RequestStoryView } from '../../../daemon/contract/system.ts';
import { duration } from '../../ui/format.ts';
import { stepWord } from './ladder.tsx';
import { errorWords } from './request-look.ts';

const RULES: Readonly<Record<string, string>> = {
  'slot-alias': 'is the name of a slot',
  'npu-suffix': 'means a model of the NPU',
  'virtual-name': 'is a virtual name',
};

/** What a rule made of the name that was asked for; null when it stood as it was written. */
export function ruleWords(
  { rule, lane }: Pick<RequestStoryView, 'rule' | 'lane'>,
  asked: string | null,
): string | null {
  const meant = lane === null ? '' : ` and means slot ${lane}`;
  if (rule === 'model-omitted')
    return lane === null ? null : `No model was named, so slot ${lane} was meant.`;
  if (rule === null || asked === null) return null;
  return `“${asked}” ${RULES[rule] ?? `was changed by the rule ${rule}`}${meant}.`;
}

/** Who took the request, in one sentence. */
export function placeWords({
  step,
  slot,
  upstream,
}: Pick<RequestRecord, 'step' | 'slot' | 'upstream'>): string {
  if (step === null) return 'No step took it.';
  const by = slot === null ? '' : ` and given to slot ${slot}`;
  const to = upstream === null ? '' : ` and sent to upstream ${upstream}`;
  return `It was taken by the step “${stepWord(step)}”${by}${to}.`;
}

/** Why somebody who was chosen before did not serve it. */
export function beforeWords({ slot, upstream, error }: RequestStoryView['before'][number]): string {
  const who = slot === null ? `Upstream ${upstream}` : `Slot ${slot}`;
  return `${who} was chosen first${error === null ? '.' : `: ${errorWords(error)}`}`;
}

/** What an answer begins with, by its route. */
export const firstThing = (route: string): 'token' | 'sound' =>
  route.endsWith('/audio/speech') ? 'sound' : 'token';

/** The waits before its turn, for a list of facts; null is shown as nothing. */
export function waitRows(waits: RequestStoryView['waits']): [name: string, value: string | null][] {
  const shown = (ms: number | undefined): string | null => (ms ? duration(ms) : null);
  return [
    ['Waited for memory', shown(waits?.memory_ms)],
    ['Waited for the load', shown(waits?.load_ms)],
    ['Waited for its turn', shown(waits?.queue_ms)],
  ];
}
