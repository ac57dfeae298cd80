import type { RequestRecord, RequestTraceView } from '../../../daemon/contract/system.ts';
import { duration } from '../../ui/format.ts';
import { errorWords } from './request-badge.ts';
import { stepWord } from './routing-steps.tsx';

const RULES: Readonly<Record<string, string>> = {
  'slot-alias': 'is the name of a slot',
  'npu-suffix': 'selects a model on the NPU',
  'virtual-name': 'is a virtual name',
  alias: 'is an alias',
  preset: 'is a preset',
  fallback: 'could not serve the request, so one of its fallbacks did',
};

/** How a rule changed the requested model name; null when it was used unchanged. */
export function ruleWords(
  { rule, lane }: Pick<RequestTraceView, 'rule' | 'lane'>,
  requested: string | null,
): string | null {
  const target = lane === null ? '' : ` and selects slot ${lane}`;
  if (rule === 'model-omitted') return lane === null ? null : `No model was given, so slot ${lane} is used.`;
  if (rule === null || requested === null) return null;
  return `“${requested}” ${RULES[rule] ?? `was changed by rule ${rule}`}${target}.`;
}

/** Describes where the request was routed. */
export function placeWords({
  step,
  slot,
  upstream,
}: Pick<RequestRecord, 'step' | 'slot' | 'upstream'>): string {
  if (step === null) return 'Not routed: no step matched.';
  const target = slot === null ? (upstream === null ? '' : ` to upstream ${upstream}`) : ` to slot ${slot}`;
  return `Routed${target} (step: ${stepWord(step).toLowerCase()}).`;
}

/** Why an earlier target did not serve the request. */
export function beforeWords({ slot, upstream, error }: RequestTraceView['before'][number]): string {
  const who = slot === null ? `Upstream ${upstream}` : `Slot ${slot}`;
  return `${who} was tried first${error === null ? '.' : `: ${errorWords(error)}`}`;
}

/** The first output of a response, by route. */
export const firstOutput = (route: string): 'token' | 'audio' =>
  route.endsWith('/audio/speech') ? 'audio' : 'token';

/** Wait times as rows; null values are not shown. */
export function waitRows(waits: RequestTraceView['waits']): [name: string, value: string | null][] {
  const shown = (ms: number | undefined): string | null => (ms ? duration(ms) : null);
  return [
    ['Wait for memory', shown(waits?.memory_ms)],
    ['Model load', shown(waits?.load_ms)],
    ['Queue', shown(waits?.queue_ms)],
  ];
}
