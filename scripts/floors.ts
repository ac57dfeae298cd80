/** The floors of the house and the few folders that may do dangerous things: the table is the point. */

/** Imports go down only: a file may import from its own floor's folder or from a lower floor. */
export const FLOORS: readonly (readonly string[])[] = [
  ['contract'],
  ['kit'],
  ['settings', 'store'],
  ['auth', 'hardware', 'models', 'upstreams', 'slots'],
  ['inference', 'memory', 'telemetry', 'setup', 'companion'],
  ['routes', 'backup', 'doctor'],
  ['http'],
  ['commands'],
];

/** Sideways imports on one floor that are meant. */
export const SIDEWAYS: Readonly<Record<string, readonly string[]>> = {
  slots: ['hardware', 'models'],
  inference: ['telemetry', 'memory'],
  upstreams: ['auth'],
};

/** What only some places may use; a pattern is looked for in the code of every other file. */
export const RESERVED: readonly { what: string; pattern: RegExp; allowed: readonly string[] }[] = [
  {
    what: 'process.env is read only by settings, main and the command line',
    pattern: /\bprocess\.env\b/,
    allowed: ['daemon/settings/', 'daemon/main.ts', 'daemon/cli/', 'daemon/slots/workers/'],
  },
  {
    what: 'only kit/run-command and slots/runners start processes',
    pattern: /'node:child_process'/,
    allowed: ['daemon/kit/run-command.ts', 'daemon/slots/runners/', 'daemon/cli/'],
  },
  {
    what: 'only auth/keys and auth/session-cookie compare secrets (engine workers check their own key)',
    pattern: /\btimingSafeEqual\b/,
    allowed: ['daemon/auth/keys.ts', 'daemon/auth/session-cookie.ts', 'daemon/slots/workers/'],
  },
  {
    what: 'only kit/outbound opens outgoing connections (the command line has its own thin client)',
    pattern: /(import|export) (?!type\b)[^;]*'undici\b|\('undici\b|\bfetch\(|'node:https'/,
    allowed: ['daemon/kit/outbound.ts', 'daemon/kit/parts-of-packages.d.ts', 'daemon/cli/'],
  },
  {
    what: "Node's http is read in through kit/node-http (types may be imported)",
    pattern: /(import|export) (?!type\b)[^;]*'node:http'|\('node:http'\)/,
    allowed: ['daemon/kit/node-http.ts'],
  },
];

/** Who may import kit/outbound. */
export const OUTBOUND_IMPORTERS: readonly string[] = [
  'daemon/inference/',
  'daemon/slots/',
  'daemon/upstreams/',
  'daemon/models/',
  'daemon/doctor/',
  'daemon/commands/',
  'daemon/companion/',
  'daemon/kit/',
  'daemon/telemetry/traces/',
  'daemon/services.ts',
];
