import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until } from '../../../../daemon/test/harness/gateway.ts';
import { send } from '../../../../daemon/test/harness/http.ts';
import { endWell } from '../../harness/isolated.ts';
import { availableOrSkip } from '../../harness/unavailable.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import type { Agent } from './agent.ts';
import { AgentGateway } from './agent-gateway.ts';
import { FINISHED, filesOf, taskOf } from './session.ts';

/** Until the upstream notices that a client has left. */
const LEFT_LIMIT_MS = 250;
const START_LIMIT_MS = 60_000;
/** Between the answer 401 and its text on the screen. */
const WRONG_KEY_LIMIT_MS = 2_000;
const WRONG_KEY = 'not-a-key-of-this-gateway';

/** Installs agents and adds their tests: a task with tools, a PDF, Ctrl-C, a wrong key. An absent agent is named and skipped. */
export async function testAgents(agents: readonly Agent[]): Promise<void> {
  const installed: { agent: Agent; packages: string | null }[] = [];
  for (const agent of agents)
    installed.push({ agent, packages: await availableOrSkip(agent.title, agent.install) });
  describe.skipIf(installed.every(({ packages }) => packages === null))('coding agents', () =>
    addTests(installed),
  );
}

function addTests(installed: readonly { agent: Agent; packages: string | null }[]): void {
  let model: ScriptedModel;
  beforeAll(async () => {
    model = await scriptedModel();
  });
  afterAll(() => model.stop());
  const gateway = new AgentGateway(async () => {
    const files = { 'config/upstreams/scripted.toml': `base_url = "${model.url}/v1"\n` };
    const started = await startLocked({ files });
    await until(async () => {
      const upstream = await send(started, 'GET', '/api/upstreams/scripted', { key: ADMIN_KEY });
      return upstream.json<{ health: string }>().health === 'ok';
    }, 'the list of the upstream');
    return started;
  });

  describe.each(installed)('$agent.title', ({ agent, packages }) => {
    it.skipIf(packages === null)(
      'reads, edits, runs two commands at once, reads a PDF and finishes',
      async () => {
        const place = gateway.sessions.place(packages ?? '');
        model.play(taskOf(agent, place));
        const program = await gateway.sessions.start(agent, place, 'Make the file say green.', CLIENT_KEY);
        expect(await endWell(program)).toContain(FINISHED);
        expect(filesOf(place)).toEqual(['colour = green\n', '1\n', '2\n']);
        const last = JSON.stringify(model.chats().at(-1)?.messages);
        for (const text of ['colour = red', 'first', 'second', agent.pdfText]) expect(last).toContain(text);
      },
    );

    it.skipIf(packages === null)('Ctrl-C ends the work of the upstream', async () => {
      const place = gateway.sessions.place(packages ?? '');
      model.play([{ hold: 'Let me think' }]);
      const program = await gateway.sessions.start(agent, place, 'Think about the file.', CLIENT_KEY);
      await until(model.held, 'the answer to begin', START_LIMIT_MS);
      gateway.relay.reset();
      program.signal('SIGINT');
      await until(() => model.leftAt() !== null, 'the upstream to notice');
      const [client, upstream] = [gateway.relay.leftAt() ?? Number.NaN, model.leftAt() ?? Number.NaN];
      expect(upstream - client).toBeLessThan(LEFT_LIMIT_MS);
      expect((await program.ended).isLate).toBe(false);
    });

    it.skipIf(packages === null)('shows that the key is wrong', async () => {
      const place = gateway.sessions.place(packages ?? '');
      gateway.relay.reset();
      const program = await gateway.sessions.start(agent, place, 'Look at the file.', WRONG_KEY);
      await until(() => program.output().includes('This key is not valid'), 'the error', START_LIMIT_MS);
      const refused = gateway.relay.answeredAt(401) ?? Number.NaN;
      expect(performance.now() - refused).toBeLessThan(WRONG_KEY_LIMIT_MS);
      program.signal('SIGKILL');
      await program.ended;
    });
  });
}
