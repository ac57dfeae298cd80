import { Outbound } from '../../lib/net/outbound.ts';

/** The connections to engines and upstreams. */
export type EngineConnections = Outbound;

/** Opens the connection pools of the forwarder. `connectMs` is read for each new pool. */
export const openEngineConnections = (connectMs: () => number): EngineConnections =>
  new Outbound({ connectMs });
