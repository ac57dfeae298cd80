/** Released SDKs and frameworks for JavaScript against the embedded engine: a loop with a tool, texts, a wrong key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { startForClients, VECTOR_SIZE } from '../../../daemon/test/harness/client-gateway.ts';
import { CLIENT_KEY } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { endWell, startIsolated } from '../harness/isolated.ts';
import { npmPackages } from '../harness/npm-packages.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const REPLY = 'Hello from the tiny model.';
const INSTALL_LIMIT_MS = 280_000;
const LIMIT_MS = 90_000;
/** Until a person sees that the key is wrong. */
const WRONG_KEY_LIMIT_MS = 2_000;

const TELEMETRY_OFF = {
  MASTRA_TELEMETRY_DISABLED: '1',
  PROMPTFOO_DISABLE_TELEMETRY: '1',
  PROMPTFOO_DISABLE_UPDATE: '1',
};

/** What a script prints as its last line. */
interface Calls {
  /** The arguments of the calls that the client ran. */
  readonly zones: readonly string[];
  /** The answers, plain and streamed. */
  readonly texts: readonly string[];
  readonly wrongKeys: readonly { readonly message: string; readonly ms: number }[];
  readonly dimensions?: number;
}

/** Each has a folder with its lock file and its script. `calls`: loops that call the tool; `texts`: answers. */
const CLIENTS = [
  { name: 'langchain', calls: 3, texts: 4 },
  { name: 'llamaindex', calls: 1, texts: 3, dimensions: VECTOR_SIZE },
  { name: 'mastra', calls: 2, texts: 2 },
  { name: 'openai-agents', calls: 6, texts: 6 },
  // Its optional packages, for other providers and browsers, take 2.2 GB.
  { name: 'promptfoo', calls: 3, texts: 4, withoutOptional: true },
] as const;

const installed: { name: string; packages: string | null }[] = [];
for (const client of CLIENTS) {
  const { name } = client;
  const folder = join(import.meta.dirname, name);
  const withoutOptional = 'withoutOptional' in client;
  const install = () => npmPackages({ name, folder, limitMs: INSTALL_LIMIT_MS, withoutOptional });
  installed.push({ name, packages: await availableOrSkip(name, install) });
}

describe.skipIf(installed.every(({ packages }) => packages === null))('SDKs for JavaScript', () => {
  const gateway = new OneGateway(() => startForClients());

  describe.each(CLIENTS)('$name', ({ name, ...expected }) => {
    const packages = installed.find((each) => each.name === name)?.packages ?? null;

    it.skipIf(packages === null)(
      'runs a loop with a tool, answers, and shows that the key is wrong',
      async () => {
        const script = readFileSync(join(import.meta.dirname, name, 'calls.mjs'), 'utf8');
        const args = ['--input-type=module', '-e', script, gateway.url, CLIENT_KEY];
        const program = await startIsolated([process.execPath, ...args], {
          ports: [gateway.port],
          env: TELEMETRY_OFF,
          home: scratch(),
          cwd: packages ?? '',
          limitMs: LIMIT_MS,
        });
        const output = await endWell(program);
        const found = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Calls;
        expect(found.zones).toEqual(Array(expected.calls).fill('UTC'));
        expect(found.texts).toEqual(Array(expected.texts).fill(REPLY));
        expect(found.dimensions).toBe('dimensions' in expected ? expected.dimensions : undefined);
        expect(found.wrongKeys.length).toBeGreaterThan(0);
        for (const { message, ms } of found.wrongKeys) {
          expect(message).toContain('This key is not valid');
          expect(ms).toBeLessThan(WRONG_KEY_LIMIT_MS);
        }
      },
    );
  });
});
