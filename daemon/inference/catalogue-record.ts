import type { V1ModelRecord } from '../contract/models.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { SlotView } from '../slots/slot-view.ts';
import type { RegisteredModelLike } from './ports.ts';
import { supportsVision } from './supports-vision.ts';

/** Creation time of records without a registered model. Fixed, so that it is stable over restarts. */
const DEFAULT_CREATED = 1_735_689_600;
/** Owner of everything that this machine serves. */
export const LOCAL_OWNER = 'svc';

const MODALITIES: Record<SlotTypeName, { input: string; output: string }> = {
  llm: { input: 'text', output: 'text' },
  embedding: { input: 'text', output: 'embedding' },
  rerank: { input: 'text', output: 'score' },
  stt: { input: 'audio', output: 'text' },
  tts: { input: 'text', output: 'audio' },
  image: { input: 'text', output: 'image' },
};
const ABILITY: Record<SlotTypeName, string> = {
  llm: 'chat',
  embedding: 'embeddings',
  rerank: 'rerank',
  stt: 'transcription',
  tts: 'speech',
  image: 'image_generation',
};
/** Types that are listed only on request. Embedding and rerank count as text. */
const HIDDEN: ReadonlySet<SlotTypeName> = new Set(['stt', 'tts', 'image']);

export const isHidden = (type: SlotTypeName): boolean => HIDDEN.has(type);

/** The input of a record: a slot, a registered model, or both. */
export interface RecordInput {
  readonly id: string;
  readonly type: SlotTypeName;
  readonly owner: string;
  readonly slot: SlotView | undefined;
  readonly model: RegisteredModelLike | undefined;
  readonly extra?: Partial<V1ModelRecord['_svc']>;
  /** What the name refers to. */
  readonly description: string;
  /** Values that are known without a slot: state, context window, creation time. */
  readonly state?: string;
  readonly context?: number | null;
  readonly created?: number | null;
  readonly vision?: boolean;
  readonly capabilities?: Readonly<Record<string, boolean>>;
}

/**
 * Returns one record of `GET /v1/models` (docs/spec/contract.md#model-record). It never holds a path, an
 * address or a key.
 */
export function modelRecord({ id, type, owner, slot, model, extra, ...known }: RecordInput): V1ModelRecord {
  const context = slot?.context ?? slot?.window ?? model?.context_length ?? known.context ?? null;
  const { input, output } = MODALITIES[type];
  const seeing = supportsVision(model, slot) || known.vision === true;
  return {
    id,
    object: 'model',
    created: model?.created ?? known.created ?? DEFAULT_CREATED,
    owned_by: owner,
    name: extra === undefined ? (model?.name ?? id) : id,
    description: known.description,
    ...(context === null ? {} : { context_length: context, max_model_len: context }),
    architecture: { input_modalities: seeing ? [input, 'image'] : [input], output_modalities: [output] },
    capabilities: {
      [ABILITY[type]]: true,
      ...known.capabilities,
      ...model?.capabilities,
      ...(seeing && { vision: true }),
    },
    pricing: { prompt: '0', completion: '0' },
    meta: { description: known.description },
    _svc: {
      slot: slot?.name ?? null,
      state: slot?.state ?? known.state ?? 'offline',
      ...(slot !== undefined && extra === undefined && { active: slot.active, queued: slot.queued }),
      ...(slot?.sharesWith && { shares: [...slot.sharesWith] }),
      ...extra,
      ...(slot?.device ? { device: slot.device } : {}),
      ...(slot?.demo || model?.demo ? { demo: true } : {}),
      ...(model?.chat_template ? { chat_template: model.chat_template } : {}),
    },
  };
}
