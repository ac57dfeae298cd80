import { Outbound } from '../../lib/net/outbound.ts';

/** The connections to engines and upstreams. */
export type EngineConnections = Outbound;

/** Opens the pools of the forwarder; `connectMs` is read anew for each of them. */
export const openEngineConnections = (connectMs: () => number): EngineConnections =>
  new Outbound({ connectMs });
