/** Type declarations of package files that are imported without the rest of their package. */
declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export default buildConnector;
}
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}
declare module 'prom-client/lib/counter.js' {
  import { Counter } from 'prom-client';
  export default Counter;
}
declare module 'prom-client/lib/gauge.js' {
  import { Gauge } from 'prom-client';
  export default Gauge;
}
declare module 'prom-client/lib/registry.js' {
  import { Registry } from 'prom-client';
  export default Registry;
}
declare module 'systeminformation/lib/cpu.js' {
  import type { cpu, cpuTemperature, currentLoad } from 'systeminformation';

  const parts: { cpu: typeof cpu; cpuTemperature: typeof cpuTemperature; currentLoad: typeof currentLoad };
  export default parts;
}
declare module 'systeminformation/lib/memory.js' {
  import type { mem } from 'systeminformation';

  const parts: { mem: typeof mem };
  export default parts;
}
declare module 'systeminformation/lib/network.js' {
  import type { networkInterfaces } from 'systeminformation';

  const parts: { networkInterfaces: typeof networkInterfaces };
  export default parts;
}
declare module 'systeminformation/lib/filesystem.js' {
  import type { fsSize } from 'systeminformation';

  const parts: { fsSize: typeof fsSize };
  export default parts;
}
declare module 'systeminformation/lib/graphics.js' {
  import type { graphics } from 'systeminformation';

  const parts: { graphics: typeof graphics };
  export default parts;
}
