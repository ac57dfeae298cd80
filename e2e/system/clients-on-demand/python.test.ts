/** Released frameworks and programs for Python against the daemon: loops with a tool, an edit, a wrong key. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { startForClients } from '../../../daemon/test/harness/client-gateway.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { envFor, svcctl } from '../../../daemon/test/harness/svcctl.ts';
import { SCRIPTED_MODEL, type ScriptedModel, scriptedModel } from '../clients/scripted-model.ts';
import { endWell, startIsolated } from '../harness/isolated.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const REPLY = 'Hello from the tiny model.';
const INSTALL_LIMIT_MS = 280_000;
const LIMIT_MS = 110_000;
const WRONG_KEY = 'not-a-key-of-this-gateway';
/** Until a person sees that the key is wrong. */
const WRONG_KEY_LIMIT_S = 2;
const FOLDER = join(import.meta.dirname, 'python');

const environment = (name: string) =>
  availableOrSkip(`${name} for Python`, () =>
    pythonEnvironment({ name, lock: join(FOLDER, `${name}-requirements.txt`), limitMs: INSTALL_LIMIT_MS }),
  );
const sdks = await environment('sdks');
const llm = await environment('llm');
const aider = await environment('aider');

/** What `client_calls.py` prints as its last line. */
interface Calls {
  readonly zones: readonly string[];
  readonly texts: readonly string[];
  readonly wrong_keys: readonly { readonly message: string; readonly seconds: number }[];
}

/** `zones`: the arguments of the calls that the framework ran; `texts`: its answers. */
const FRAMEWORKS = [
  { name: 'litellm', zones: 2, texts: 3 },
  { name: 'langchain', zones: 2, texts: 3 },
  { name: 'llama-index', zones: 1, texts: 3 },
  { name: 'pydantic-ai', zones: 6, texts: 6 },
  { name: 'openai-agents', zones: 4, texts: 4 },
  { name: 'smolagents', zones: 1, texts: 1 },
] as const;

describe.skipIf(sdks === null && llm === null && aider === null)('clients for Python', () => {
  let model: ScriptedModel;
  beforeAll(async () => {
    model = await scriptedModel();
  });
  afterAll(() => model.stop());
  const gateway = new OneGateway(() =>
    startForClients({
      // The prompt of smolagents has 3,800 tokens of this model.
      'config/slots/agent.toml': 'model = "chat"\ncontext = 16384\n',
      'config/upstreams/scripted.toml': `base_url = "${model.url}/v1"\n`,
    }),
  );
  const start = (command: readonly string[], env: Record<string, string>, cwd = scratch()) =>
    startIsolated(command, { ports: [gateway.port], env, home: scratch(), cwd, limitMs: LIMIT_MS });
  const calls = async (framework: string): Promise<Calls> => {
    const command = [sdks ?? '', join(FOLDER, 'client_calls.py'), framework, gateway.url, CLIENT_KEY];
    const output = await endWell(await start(command, { LITELLM_LOCAL_MODEL_COST_MAP: 'True' }));
    return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Calls;
  };
  const expectWrongKeys = ({ wrong_keys: wrongKeys }: Calls) => {
    expect(wrongKeys.length).toBeGreaterThan(0);
    for (const { message, seconds } of wrongKeys) {
      expect(message).toContain('This key is not valid');
      expect(seconds).toBeLessThan(WRONG_KEY_LIMIT_S);
    }
  };

  it.skipIf(sdks === null).each(FRAMEWORKS)('$name', async ({ name, zones, texts }) => {
    const found = await calls(name);
    expect(found.zones).toEqual(Array(zones).fill('UTC'));
    expect(found.texts).toEqual(Array(texts).fill(REPLY));
    expectWrongKeys(found);
  });

  it.skipIf(sdks === null)('instructor: objects by tools, strict tools and a schema', async () => {
    const found = await calls('instructor');
    expect(found.zones).toEqual(['str', 'str', 'str']);
    expectWrongKeys(found);
  });

  it.skipIf(llm === null)('llm: a tool, a wrong key', async () => {
    const folder = scratch();
    const lines = [
      ...['- model_id: svc', 'model_name: agent', `api_base: ${gateway.url}/v1`, 'api_key_name: svc'],
      'supports_tools: true',
    ];
    writeFileSync(join(folder, 'extra-openai-models.yaml'), `${lines.join('\n  ')}\n`);
    const tool = `def get_time(zone: str) -> str:\n  "The time of a zone"\n  print("called with", zone)\n  return "12:00"`;
    const run = (key: string) =>
      start([llm ?? '', '-m', 'llm', '-m', 'svc', '--key', key, '--functions', tool, 'What time is it?'], {
        LLM_USER_PATH: folder,
      });
    expect(await endWell(await run(CLIENT_KEY))).toBe(`called with UTC\n${REPLY}\n`);
    const refused = await run(WRONG_KEY);
    expect(await refused.ended).toEqual({ code: 1, isLate: false });
    expect(refused.output()).toContain('This key is not valid');
  });

  it.skipIf(aider === null)('aider: an edit with the printed metadata, a wrong key', async () => {
    await until(async () => {
      const listed = await gateway.sendAsAdmin('GET', '/api/upstreams/scripted', { key: ADMIN_KEY });
      return listed.json<{ health: string }>().health === 'ok';
    }, 'the list of the upstream');
    model.play([], 'note.txt\n```\ncolour = green\n```\n');
    const folder = scratch();
    const note = join(folder, 'note.txt');
    writeFileSync(note, 'colour = red\n');
    const printed = await svcctl(['agents', 'aider', '--model', SCRIPTED_MODEL], { env: envFor(gateway) });
    writeFileSync(join(folder, '.aider.model.metadata.json'), printed.out);
    const options = [
      ...['--model', `openai/${SCRIPTED_MODEL}`, '--edit-format', 'whole', '--no-git', '--yes-always'],
      ...['--no-check-update', '--no-show-release-notes', '--analytics-disable', '--no-fancy-input'],
      ...['--message', 'Make it green', 'note.txt'],
    ];
    const run = (key: string) => {
      const env = {
        OPENAI_API_BASE: `${gateway.url}/v1`,
        OPENAI_API_KEY: key,
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      };
      return start([aider ?? '', '-m', 'aider', ...options], env, folder);
    };
    const output = await endWell(await run(CLIENT_KEY));
    expect(readFileSync(note, 'utf8')).toBe('colour = green\n');
    // Without metadata of the model it warns and assumes a window.
    expect(output).not.toContain('Unknown context window');
    const refused = await run(WRONG_KEY);
    await until(() => refused.output().includes('not able to authenticate you'), 'the error', LIMIT_MS);
    refused.signal('SIGKILL');
    await refused.ended;
  });
});
