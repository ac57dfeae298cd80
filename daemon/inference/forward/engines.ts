import { Outbound } from '../../lib/net/outbound.ts';

/** The connections to engines and upstreams. */
export type Engines = Outbound;

/** Opens the pools of the forwarder; `connectMs` is read anew for each of them. */
export const openEngines = (connectMs: () => number): Engines => new Outbound({ connectMs });
