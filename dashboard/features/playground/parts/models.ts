import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';

export interface ModelGroup {
  label: string;
  models: V1ModelRecord[];
}

/** What a mode needs a model for. */
export type Ability = 'chat' | 'embeddings' | 'rerank' | 'speech' | 'transcription' | 'image_generation';

interface AbilityRow {
  /** The slot that serves it when nobody names another. */
  readonly usual: string;
  /** A model that can: "No model that …". */
  readonly can: string;
  /** What `svcctl models catalog` calls it. */
  readonly purpose: string;
}

export const ABILITIES: Readonly<Record<Ability, AbilityRow>> = {
  chat: { usual: 'agent', can: 'chats', purpose: 'chat' },
  embeddings: { usual: 'embed', can: 'makes vectors', purpose: 'embedding' },
  rerank: { usual: 'rerank', can: 'sorts documents', purpose: 'rerank' },
  speech: { usual: 'tts', can: 'speaks', purpose: 'speaking' },
  transcription: { usual: 'stt', can: 'hears', purpose: 'hearing' },
  image_generation: { usual: 'img', can: 'draws', purpose: 'images' },
};

/** Whether a record can answer a chat; one that says nothing about itself may be tried. */
export function canChat(model: V1ModelRecord): boolean {
  const { capabilities } = model;
  if (!model.architecture.output_modalities.includes('text')) return false;
  if (typeof capabilities.chat === 'boolean') return capabilities.chat;
  return !(
    capabilities.embedding ||
    capabilities.embeddings ||
    capabilities.rerank ||
    capabilities.transcription
  );
}

/** Whether a record can be asked for this. */
export function able(model: V1ModelRecord, ability: Ability): boolean {
  return ability === 'chat' ? canChat(model) : model.capabilities[ability] === true;
}

const GROUPS = ['Slot names', 'Models', 'Virtual names'] as const;

/** A virtual name is an alias too, so it is looked at first: each record stands in one group. */
function groupOf({ _svc }: V1ModelRecord): (typeof GROUPS)[number] {
  if (_svc.virtual) return 'Virtual names';
  return _svc.is_alias ? 'Slot names' : 'Models';
}

/** The models that can, in groups: slots, models, virtual names; empty groups are left out. */
export function modelsThat(ability: Ability, models: readonly V1ModelRecord[]): ModelGroup[] {
  const fit = models.filter((model) => able(model, ability));
  return GROUPS.map((label) => ({ label, models: fit.filter((row) => groupOf(row) === label) })).filter(
    (group) => group.models.length > 0,
  );
}

export interface Choice {
  /** The one that is asked; null while nothing can be. */
  readonly model: V1ModelRecord | null;
  /** What was chosen and is served no more: nobody else is asked in its place. */
  readonly gone: string | null;
}

/** The chosen model; while nobody chose, the usual slot, else the first of the list. */
export function chosenModel(groups: readonly ModelGroup[], chosen: string | null, usual: string): Choice {
  const all = groups.flatMap((group) => group.models);
  const [first] = all;
  if (first === undefined) return { model: null, gone: null };
  if (chosen === null || chosen === '')
    return { model: all.find((row) => row.id === usual) ?? first, gone: null };
  const model = all.find((row) => row.id === chosen) ?? null;
  return { model, gone: model === null ? chosen : null };
}

/** Why nothing can be sent to a model that is served no more. */
export const goneSentence = (gone: string): string => `${gone} is not served now: choose another model.`;
