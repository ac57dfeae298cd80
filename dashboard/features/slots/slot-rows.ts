import { SLOT_KEYS, type SlotKeyKind } from '../../../daemon/contract/slot-keys.ts';
import { type SlotPlanView, type SlotRecord, SlotType } from '../../../daemon/contract/slots.ts';
import { type Draft, type FieldKind, type FieldRow, textOf } from '../../ui/form/draft.ts';

const LABELS: Readonly<Record<string, string>> = {
  enabled: 'Enabled',
  type: 'Type',
  engine: 'Engine',
  model: 'Model',
  device: 'Device',
  context: 'Context',
  parallel: 'Requests at once',
  autoload: 'Load at start',
  pinned: 'Pinned',
  priority: 'Priority',
  idle_unload: 'Unload when idle',
  enable_thinking: 'Thinking',
  'voice.voice': 'Voice',
  'voice.speed': 'Speed of speech',
  'voice.response_format': 'Format of speech',
};
const KINDS: Record<SlotKeyKind, FieldKind> = {
  flag: 'flag',
  number: 'number',
  text: 'text',
  duration: 'duration',
};
/** What most slots are given; the rest stands behind "More settings". */
const FIRST: ReadonlySet<string> = new Set(['model', 'type', 'device', 'context', 'parallel', 'autoload']);
const NAME: FieldRow = {
  key: 'name',
  label: 'Name',
  kind: 'text',
  help: 'a-z, 0-9, - and _, at most 32; clients may use it as a model name',
};

/** The fields of a slot, from the table of the daemon. */
export function slotRows(models: readonly string[], create: boolean): { rows: FieldRow[]; more: FieldRow[] } {
  const all = Object.entries(SLOT_KEYS).map(([key, { kind, help }]): FieldRow => {
    const row = { key, label: LABELS[key] ?? key, help, kind: KINDS[kind] };
    if (key === 'type') return { ...row, kind: 'choice', choices: SlotType.options, help: 'What it serves' };
    if (key === 'model') return { ...row, suggestions: models };
    return row;
  });
  const first = all.filter(({ key }) => FIRST.has(key));
  return {
    rows: [...(create ? [NAME] : []), ...first],
    more: all.filter(({ key }) => !FIRST.has(key)),
  };
}

/** What is known of the settings that a slot has now; keys that no answer tells stay unknown. */
export function slotBaseline(slot: SlotRecord, plan: SlotPlanView | undefined): Draft {
  const launch = (key: string): unknown => {
    const row = plan?.launch[key];
    return row?.from === 'file' ? row.value : undefined;
  };
  return {
    enabled: textOf(slot.enabled),
    model: textOf(launch('model_id')),
    device: textOf(launch('device')),
    context: textOf(launch('context')),
    parallel: textOf(launch('parallel') ?? slot.parallel),
    pinned: textOf(slot.pinned),
    type: slot.type,
  };
}
