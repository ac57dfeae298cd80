import { Outbound, type OutboundOptions } from '../../lib/net/outbound.ts';

/** The connections to engines and upstreams. */
export type EngineConnections = Outbound;

/** Opens the connection pools of the forwarder. `connectMs` is read for each new pool. */
export const openEngineConnections = (
  options: Pick<OutboundOptions, 'connectMs' | 'proxyFor'>,
): EngineConnections => new Outbound(options);
