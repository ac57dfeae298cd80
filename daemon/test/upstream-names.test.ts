/** Aliases and presets of config.toml over a real port: every API, live reload, the list, explain and svcctl. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NameView } from '../contract/models.ts';
import type { ExplainView } from '../contract/system.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { ADMIN_KEY, until } from './harness/gateway.ts';
import { writeModel } from './harness/home.ts';
import { waitForSlotState } from './harness/slots.ts';
import { provider, type StandIn } from './harness/stand-in.ts';
import { envFor, svcctl } from './harness/svcctl.ts';
import { tinyModel } from './harness/tiny-gateway.ts';

const front = new Front();
let desk: StandIn;
const file = () => join(front.home, 'config', 'config.toml');
const names = async () => (await front.send('GET', '/api/models/names')).json<{ names: NameView[] }>().names;
const named = async (name: string) => (await names()).find((each) => each.name === name);
/** Writes config.toml and waits until the gateway has read it. */
async function configure(text: string, name: string): Promise<void> {
  writeFileSync(file(), text);
  await until(async () => (await named(name)) !== undefined, `the name ${name}`);
}
const last = () => JSON.parse(desk.requests.findLast(({ method }) => method === 'POST')?.body ?? '{}');

beforeAll(async () => {
  const model = writeModel(front.home, 'tiny', tinyModel());
  await front.start({}, { 'config/slots/agent.toml': 'context = 4096\n' }, { SVC_MODEL: model });
  desk = await front.startStandIn(provider('gpt-oss', 'claude-here'));
  await front.add('desk', `base_url = "${desk.url}"\n`);
  await waitForSlotState(front.gateway, 'agent', 'ready', ADMIN_KEY);
});
afterAll(() => front.close());

describe('aliases', () => {
  beforeAll(() =>
    configure(
      '[aliases]\n"gpt-4o" = "agent"\n"far" = "gpt-oss"\n"claude-*" = "far"\nlost = "nothing"\n',
      'gpt-4o',
    ),
  );

  it.each([
    ['/v1/chat/completions', chat('gpt-4o')],
    ['/v1/completions', { model: 'gpt-4o', prompt: 'a', max_tokens: 2 }],
    ['/v1/responses', { model: 'gpt-4o', input: 'a', max_output_tokens: 16 }],
    ['/v1/messages', { ...chat('gpt-4o'), max_tokens: 2 }],
    ['/v1/messages/count_tokens', { model: 'gpt-4o', messages: chat('').messages }],
  ])('%s is served by the slot, and the header names the alias', async (path, body) => {
    const response = await front.send('POST', path, { body });
    expect([response.status, response.headers['x-svc-slot'], response.headers['x-svc-alias']]).toEqual([
      ...[200, 'agent', 'gpt-4o'],
    ]);
  });

  it('an upstream gets its own model id', async () => {
    const response = await front.send('POST', CHAT, { body: chat('far') });
    expect(response.headers).toMatchObject({ 'x-svc-upstream': 'desk', 'x-svc-alias': 'far' });
    expect(last().model).toBe('gpt-oss');
  });

  it('a pattern applies to what nothing else has', async () => {
    await front.send('POST', CHAT, { body: chat('claude-opus-5') });
    expect(last().model).toBe('gpt-oss');
    const own = await front.send('POST', CHAT, { body: chat('claude-here') });
    expect([own.headers['x-svc-alias'], last().model]).toEqual([undefined, 'claude-here']);
  });

  it('exact names are listed with the model that serves them; patterns and lost names are not', async () => {
    const listed = await front.listModels();
    const ids = listed.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['gpt-4o', 'far']));
    expect(ids.filter((id) => id.includes('*') || id === 'lost')).toEqual([]);
    expect(listed.find(({ id }) => id === 'gpt-4o')).toMatchObject({
      ...{ owned_by: 'svc', description: 'Alias of agent.', capabilities: { chat: true } },
      _svc: { slot: 'agent', is_alias: true, resolves_to: 'tiny' },
    });
    expect((await front.send('GET', '/v1/models/far')).json()).toMatchObject({ owned_by: 'desk' });
  });

  it('a name that leads nowhere says so, in the answer, the list and the problems', async () => {
    const text = 'leads to "nothing", which no slot or upstream serves';
    const refused = await front.send('POST', CHAT, { body: chat('lost') });
    expect(refused).toMatchObject({ status: 404, code: 'dispatch.no_route' });
    expect(refused.text).toContain('The alias \\"lost\\" of config.toml leads to \\"nothing\\"');
    expect((await named('lost'))?.problem).toBe(`${text} now`);
    const { problems } = (await front.send('GET', '/api/settings')).json<{
      problems: { message: string }[];
    }>();
    expect(problems.map(({ message }) => message)).toContain(`alias "lost" ${text} now`);
  });

  it('explain names the alias', async () => {
    const response = await front.send('POST', '/api/dispatch/explain', {
      body: { path: CHAT, model: 'gpt-4o' },
    });
    expect(response.json<ExplainView>()).toMatchObject({
      ...{ alias: { kind: 'alias', name: 'gpt-4o', target: 'agent' }, slot: 'agent', lane: 'agent' },
    });
    const shown = await svcctl(['explain', 'gpt-4o'], { env: envFor(front.gateway) });
    expect(shown.out).toContain('gpt-4o (alias of agent) on /v1/chat/completions, for slot agent');
  });

  it('svcctl adds, lists and removes an alias, and keeps the rest of the file', async () => {
    const before = readFileSync(file(), 'utf8');
    const run = (...args: string[]) => svcctl(['models', ...args], { env: envFor(front.gateway) });
    expect(await run('alias', 'gpt 5', 'agent')).toMatchObject({
      ...{ err: '', out: 'gpt 5 now stands for agent.\n' },
    });
    expect(readFileSync(file(), 'utf8')).toBe(`${before}"gpt 5" = "agent"\n`);
    expect((await front.send('POST', CHAT, { body: chat('gpt 5') })).status).toBe(200);
    expect((await run('names')).out).toMatch(/gpt 5 +alias +agent +tiny in slot agent/);
    expect((await run('unalias', 'gpt 5')).out).toBe('Removed the alias gpt 5.\n');
    expect(readFileSync(file(), 'utf8')).toBe(before);
    const unknown = await run('unalias', 'gpt 5');
    expect([unknown.code, unknown.err]).toEqual([
      1,
      expect.stringContaining('No alias "gpt 5". Aliases: gpt-4o, far'),
    ]);
  });
});

describe('presets', () => {
  const PRESET = `
[presets.writer]
model = "gpt-oss"
system = "Write."
set = { temperature = 0.25 }
default = { top_p = 0.5 }
strip = ["seed"]
`;
  beforeAll(() => configure(`[aliases]\nscribe = "writer"\n${PRESET}`, 'writer'));

  const user = { role: 'user', content: 'hi' };
  it.each(['writer', 'scribe'])('a chat with %s is changed', async (name) => {
    const response = await front.send('POST', CHAT, { body: chat(name, { seed: 7, top_p: 0.9 }) });
    expect(response.headers['x-svc-alias']).toBe(name);
    expect(last()).toEqual({
      ...{ model: 'gpt-oss', max_tokens: 8, temperature: 0.25, top_p: 0.9 },
      messages: [{ role: 'system', content: 'Write.' }, user],
    });
  });

  it.each([
    ['/v1/responses', { model: 'writer', input: 'hi', instructions: 'Be kind.', temperature: 1 }],
    [
      '/v1/messages',
      { model: 'writer', system: 'Be kind.', messages: [user], max_tokens: 9, temperature: 1 },
    ],
  ])('%s is changed as the chat that it means', async (path, body) => {
    expect((await front.send('POST', path, { body })).status).toBe(200);
    const { messages, ...sent } = last();
    expect(sent).toMatchObject({ model: 'gpt-oss', temperature: 0.25, top_p: 0.5 });
    expect(messages[0].content).toBe('Write.\n\nBe kind.');
    expect(
      messages.filter(({ role }: { role: string }) => role === 'system' || role === 'developer'),
    ).toHaveLength(1);
  });

  it('is listed, and a change of the file counts at once', async () => {
    expect((await front.listModels()).find(({ id }) => id === 'writer')).toMatchObject({
      ...{ description: 'Preset of gpt-oss.', _svc: { is_alias: true, resolves_to: 'gpt-oss' } },
    });
    expect(await named('writer')).toEqual({
      ...{
        kind: 'preset',
        name: 'writer',
        target: 'gpt-oss',
        model: 'gpt-oss',
        slot: null,
        upstream: 'desk',
      },
      ...{ set: ['temperature'], default: ['top_p'], strip: ['seed'], system: true, problem: null },
    });
    await configure('[presets.other]\nmodel = "agent"\n', 'other');
    expect(await named('writer')).toBeUndefined();
    expect((await front.send('POST', CHAT, { body: chat('writer') })).status).toBe(404);
  });

  it('a mistake is a problem, and the other entries count', async () => {
    await configure('[presets.bad]\nset = {}\n[presets.good]\nmodel = "agent"\n', 'good');
    const { problems } = (await front.send('GET', '/api/settings')).json<{
      problems: { message: string }[];
    }>();
    expect(problems.map(({ message }) => message)).toContain(
      'presets "bad" needs model, the name of a model or slot in quotes; it is ignored',
    );
  });
});
