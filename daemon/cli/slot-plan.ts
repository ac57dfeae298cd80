import type { SlotPlanView, SlotRecord } from '../contract/slots.ts';
import { formatBytes } from '../lib/text/bytes-text.ts';
import { fields, fitted } from './table.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the values of a launch by dotted key. Unset values are left out. */
function flatten(key: string, value: unknown): [key: string, value: string][] {
  if (value === null || value === undefined) return [];
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, inner]) => flatten(`${key}.${name}`, inner));
  }
  return [[key, typeof value === 'string' ? value : JSON.stringify(value)]];
}

const isLoaded = (view: SlotPlanView, slot: SlotRecord): boolean =>
  slot.model === view.model && (slot.state === 'ready' || slot.state === 'serving');

/** What a load would do now. For a loaded model it is what a restart would do. */
function outcomeText(view: SlotPlanView, slot: SlotRecord): string {
  const { outcome, evicts } = view.forecast;
  const subject = isLoaded(view, slot) ? 'the model is loaded; a restart' : 'it';
  const others = evicts.join(', ');
  if (outcome === 'starts') return `${subject} would start at once`;
  if (outcome === 'evicts') return `${subject} would start after unloading ${others}`;
  if (outcome === 'waits') return `${subject} would wait for ${others}`;
  return `${subject} would be refused: not enough memory`;
}

/** Slots whose memory a load could use, and what happens to them. Empty when the load needs none of it. */
function victimTable({ forecast }: SlotPlanView, width: number): string {
  const { outcome, evicts, sum } = forecast;
  if (outcome === 'starts' || sum.victims.length === 0) return '';
  const rows = sum.victims.map(({ slot, bytes, stays }) => {
    const outcome = evicts.includes(slot) ? 'would be unloaded' : 'stays loaded';
    return [slot, formatBytes(bytes), stays === null ? outcome : `stays loaded: ${stays}`];
  });
  return `\n${fitted(['HOLDS', 'MEMORY', 'THEN'], rows, { width, shrink: [0] })}`;
}

const SOURCES: Readonly<Record<SlotPlanView['need']['source'], string>> = {
  file: 'set in the slot file',
  measured: 'measured',
  estimated: 'estimated',
};

/** The parts of an estimate. They do not add up to a measured sum. */
const partsOf = (need: SlotPlanView['need']): Record<string, string> => ({
  Weights: formatBytes(need.weights),
  Window: formatBytes(need.window),
  Compute: formatBytes(need.compute),
  'Engine itself': formatBytes(need.engine),
  ...(need.host === 0 ? {} : { 'In host memory': formatBytes(need.host) }),
});

function memoryFields({ need, forecast: { sum } }: SlotPlanView): string {
  const limit =
    sum.limit === null ? [] : [['Limit', `${formatBytes(sum.limit)}, ${formatBytes(sum.held)} in use`]];
  return fields({
    Needed: `${formatBytes(need.total)} (${SOURCES[need.source]})`,
    ...(need.source === 'estimated' ? partsOf(need) : {}),
    'Free now': `${formatBytes(sum.free)} in pool ${sum.pool}, ${formatBytes(sum.reserved)} reserved, ${formatBytes(sum.kept_free)} margin`,
    ...Object.fromEntries(limit),
    ...(sum.short === 0 ? {} : { Short: formatBytes(sum.short) }),
  });
}

/** Returns the launch with the source of each value, the memory sum, and the effect of a load now. */
export function planText(view: SlotPlanView, slot: SlotRecord, width: number): string {
  const launch = Object.entries(view.launch).flatMap(([key, { value, from }]) =>
    flatten(key, value).map((row) => [...row, from]),
  );
  return [
    fields({
      Slot: `${view.slot}, model ${view.model}`,
      Engine: `${view.engine}, runner ${view.runner}`,
      Now: outcomeText(view, slot),
    }),
    '\n',
    fitted(['LAUNCH', 'VALUE', 'FROM'], launch, { width, shrink: [1] }),
    '\n',
    memoryFields(view),
    victimTable(view, width),
  ].join('');
}
