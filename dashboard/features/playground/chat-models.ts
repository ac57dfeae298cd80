import type { V1ModelRecord } from '../../../daemon/contract/models.ts';

export interface ModelGroup {
  label: string;
  models: V1ModelRecord[];
}

/** Whether a record can answer a chat; one that says nothing about itself may be tried. */
export function canChat(model: V1ModelRecord): boolean {
  const { capabilities } = model;
  if (!model.architecture.output_modalities.includes('text')) return false;
  if (typeof capabilities.chat === 'boolean') return capabilities.chat;
  return !(capabilities.embedding || capabilities.embeddings || capabilities.rerank);
}

const GROUPS = ['Slot names', 'Models', 'Virtual names'] as const;

/** A virtual name is an alias too, so it is looked at first: each record stands in one group. */
function groupOf({ _svc }: V1ModelRecord): (typeof GROUPS)[number] {
  if (_svc.virtual) return 'Virtual names';
  return _svc.is_alias ? 'Slot names' : 'Models';
}

/** The chat models in groups: slots, models, virtual names; empty groups are left out. */
export function chatModels(models: readonly V1ModelRecord[]): ModelGroup[] {
  const chat = models.filter(canChat);
  return GROUPS.map((label) => ({ label, models: chat.filter((row) => groupOf(row) === label) })).filter(
    (group) => group.models.length > 0,
  );
}

/** The chosen model while it is still there, else the first of the list. */
export function chosenModel(groups: readonly ModelGroup[], chosen: string | null): V1ModelRecord | null {
  const all = groups.flatMap((group) => group.models);
  return all.find((row) => row.id === chosen) ?? all.find((row) => row.id === 'agent') ?? all[0] ?? null;
}
