import { upstreamNotFound } from '../contract/not-found.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { AllUpstreams } from '../upstreams/port.ts';

/** The fields of a registered model that inference reads. */
export interface RegisteredModelLike {
  readonly id: string;
  readonly name: string;
  readonly type: SlotTypeName;
  readonly format: string;
  readonly architecture?: string | null;
  /** Language of a voice. */
  readonly language?: string | null;
  readonly context_length: number | null;
  readonly enable_thinking: boolean | null;
  readonly demo: boolean;
  /** `slot:NAME` or `upstream:NAME`. */
  readonly binding: string | null;
  /** Unix seconds. */
  readonly created: number;
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Whether a projector file exists for it, which lets some engines process images. */
  readonly projector?: boolean;
  /** The built-in chat template of a model whose file has none. */
  readonly chat_template?: string | null;
  /** Voice names of a speech model. */
  readonly voices?: readonly string[];
}

export interface RegistryLike {
  list(): readonly RegisteredModelLike[];
  /** Returns one model without listing all. Used for each chat. */
  get?(id: string): RegisteredModelLike | undefined | null;
  /** Looks for new files in the model folders. Returns whether the models may have changed. */
  refresh?(): Promise<boolean>;
}

/** The operations on upstreams that inference uses. */
export type Upstreams = Pick<AllUpstreams, 'list' | 'refreshCold' | 'connect' | 'refusal' | 'readList'>;

/** Implements `Upstreams` for a gateway without any. */
export const NO_UPSTREAMS: Upstreams = {
  list: () => [],
  refreshCold: async () => {},
  connect: (name) => {
    throw new Error(`there is no upstream ${name}`);
  },
  refusal: () => null,
  readList: async (name) => {
    throw upstreamNotFound(name);
  },
};
