import type { SlotTypeName } from '../contract/slots.ts';

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
}

export interface RegistryLike {
  list(): readonly RegisteredModelLike[];
  /** One model without listing all; read on the way of each chat. */
  get?(id: string): RegisteredModelLike | undefined | null;
}

/** What dispatch knows of one upstream, from memory. */
export interface UpstreamFacts {
  readonly name: string;
  /** A provider of somebody else: thinking switches never go there. */
  readonly remote: boolean;
  readonly healthy: boolean;
  /** Smaller comes first. */
  readonly priority: number;
  /** Its model list has never been read, or is too old to count. */
  readonly cold: boolean;
  readonly models: readonly string[];
}

/** How an upstream is reached. The headers hold its own credential and go to its own origin only. */
export interface UpstreamConnection {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A llama-server: it serves native rerank only. */
  readonly llamaServer: boolean;
}

export interface Upstreams {
  list(): readonly UpstreamFacts[];
  /** Reads the model lists of all cold upstreams, single-flighted and within 8 s in all; never rejects for a failing leg. */
  refreshCold(signal: AbortSignal): Promise<void>;
  connect(name: string): UpstreamConnection;
}

/** A gateway without upstreams. */
export const NO_UPSTREAMS: Upstreams = {
  list: () => [],
  refreshCold: async () => {},
  connect: (name) => {
    throw new Error(`there is no upstream ${name}`);
  },
};
