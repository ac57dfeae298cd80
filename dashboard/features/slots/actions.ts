import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import type { Show } from './url-state.ts';

export interface SlotAction {
  show: Show;
  word: string;
}

const LABELS: Record<Exclude<Show, 'new'>, string> = {
  load: 'Load…',
  unload: 'Unload…',
  restart: 'Restart…',
  swap: 'Swap…',
  plan: 'Plan',
  log: 'Log',
  edit: 'Edit…',
  workflow: 'Workflow…',
  delete: 'Remove…',
};
const act = (show: Exclude<Show, 'new'>): SlotAction => ({ show, word: LABELS[show] });

const RUNS: ReadonlySet<SlotRecord['state']> = new Set([
  'pulling',
  'starting',
  'warming',
  'ready',
  'serving',
]);

/** Actions that the state of a slot allows: buttons of its card, in order, and items of its menu. */
export function actionsOf(slot: Pick<SlotRecord, 'state' | 'enabled' | 'auto' | 'model' | 'engine'>): {
  card: SlotAction[];
  menu: SlotAction[];
} {
  const runs = RUNS.has(slot.state);
  const leaves = slot.state === 'draining' || slot.state === 'stopping';
  const verb = runs ? [act('unload')] : leaves || slot.model === null ? [] : [act('load')];
  const restart = slot.state === 'ready' || slot.state === 'serving' || slot.state === 'error';
  return {
    card: [...(slot.enabled ? verb : []), ...(slot.enabled ? [act('swap')] : [act('edit')]), act('log')],
    menu: [
      ...(slot.enabled && restart && slot.model !== null ? [act('restart')] : []),
      ...(slot.model === null ? [] : [act('plan')]),
      ...(slot.enabled ? [act('edit')] : []),
      ...(slot.engine === 'comfyui' && !slot.auto ? [act('workflow')] : []),
      ...(slot.auto ? [] : [act('delete')]),
    ],
  };
}
