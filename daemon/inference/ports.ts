import { GatewayError } from '../contract/errors.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { AllUpstreams } from '../upstreams/port.ts';

/** What inference reads of a registered model. */
export interface RegisteredModelLike {
  readonly id: string;
  readonly name: string;
  readonly type: SlotTypeName;
  readonly format: string;
  readonly context_length: number | null;
  readonly enable_thinking: boolean | null;
  readonly demo: boolean;
  /** `slot:NAME` or `upstream:NAME`. */
  readonly binding: string | null;
  /** Unix seconds. */
  readonly created: number;
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Whether a projector lies beside it, with which some engines let it see. */
  readonly projector?: boolean;
  /** Names of the voices of a model that speaks. */
  readonly voices?: readonly string[];
}

export interface RegistryLike {
  list(): readonly RegisteredModelLike[];
  /** One model without listing all; read on the way of each chat. */
  get?(id: string): RegisteredModelLike | undefined | null;
}

/** What inference asks of the upstreams. */
export type Upstreams = Pick<AllUpstreams, 'list' | 'refreshCold' | 'connect' | 'refusal' | 'readList'>;

/** A gateway without upstreams. */
export const NO_UPSTREAMS: Upstreams = {
  list: () => [],
  refreshCold: async () => {},
  connect: (name) => {
    throw new Error(`there is no upstream ${name}`);
  },
  refusal: () => null,
  readList: async () => {
    throw new GatewayError('upstream.not_found');
  },
};
