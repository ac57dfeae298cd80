/** The layers of the daemon, and the few folders with special permissions. */

/** Layers from the lowest up. A file may import from its own folder and from lower layers. */
export const LAYERS: readonly (readonly string[])[] = [
  ['contract'],
  ['lib'],
  ['settings', 'store'],
  ['auth', 'hardware', 'models', 'upstreams', 'slots'],
  ['inference', 'memory', 'telemetry', 'setup', 'companion'],
  ['routes', 'backup', 'doctor'],
  ['http'],
  ['commands', 'app'],
];

/** Imports between folders of one layer that are allowed. */
export const SIDEWAYS: Readonly<Record<string, readonly string[]>> = {
  slots: ['hardware', 'models'],
  inference: ['telemetry', 'memory'],
  upstreams: ['auth'],
  app: ['commands'],
  commands: ['app'],
};

/** Patterns that are permitted in a few places only. They are searched in the code of every other file. */
export const RESERVED: readonly { what: string; pattern: RegExp; allowed: readonly string[] }[] = [
  {
    what: 'process.env is read only by settings, main and the command line',
    pattern: /\bprocess\.env\b/,
    allowed: ['daemon/settings/', 'daemon/main.ts', 'daemon/cli/', 'daemon/slots/workers/'],
  },
  {
    what: 'only lib/process/run-command and slots/runners start processes',
    pattern: /'node:child_process'/,
    allowed: ['daemon/lib/process/run-command.ts', 'daemon/slots/runners/', 'daemon/cli/'],
  },
  {
    what: 'only auth/keys and auth/session-cookie compare secrets (engine workers check their own key)',
    pattern: /\btimingSafeEqual\b/,
    allowed: ['daemon/auth/keys.ts', 'daemon/auth/session-cookie.ts', 'daemon/slots/workers/'],
  },
  {
    what: 'only lib/net/outbound opens outgoing connections (the command line has its own thin client)',
    pattern: /(import|export) (?!type\b)[^;]*'undici\b|\('undici\b|\bfetch\(|'node:https'/,
    allowed: ['daemon/lib/net/outbound', 'daemon/lib/perf/deep-imports.d.ts', 'daemon/cli/'],
  },
  {
    what: "Node's http is read in through lib/net/node-http (types may be imported)",
    pattern: /(import|export) (?!type\b)[^;]*'node:http'|\('node:http'\)/,
    allowed: ['daemon/lib/net/node-http.ts'],
  },
];

/** Who may import lib/net/outbound. */
export const OUTBOUND_IMPORTERS: readonly string[] = [
  'daemon/inference/',
  'daemon/slots/',
  'daemon/upstreams/',
  'daemon/models/',
  'daemon/doctor/',
  'daemon/commands/',
  'daemon/companion/',
  'daemon/lib/',
  'daemon/telemetry/traces/',
  'daemon/app/services.ts',
];
