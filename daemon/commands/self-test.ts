import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Finding, fail, ok } from '../doctor/finding.ts';
import { Outbound } from '../lib/net/outbound.ts';
import { DEMO_REPLY } from '../models/demo-model.ts';
import { createEngineQuery } from '../slots/lifecycle/health.ts';

const LIMIT_MS = 60_000;
const CONNECT_MS = 5_000;
/** Minimum number of characters of the expected reply. */
const MIN_REPLY_CHARS = 40;
const FIX = 'Install this release again; start svc-gateway in a terminal to see the reason in its log.';

const Answer = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});

const BODY = {
  model: 'agent',
  messages: [{ role: 'user', content: 'Hello' }],
  temperature: 0,
  max_tokens: 64,
};

async function firstReply(port: number): Promise<string> {
  const outbound = new Outbound({ connectMs: () => CONNECT_MS });
  const question = { method: 'POST', path: '/v1/chat/completions', body: BODY, limitMs: LIMIT_MS } as const;
  try {
    const gateway = { origin: `http://127.0.0.1:${port}`, headers: {} };
    const { status, body } = await createEngineQuery(outbound)(
      gateway,
      question,
      AbortSignal.timeout(LIMIT_MS),
    );
    const read = Answer.safeParse(JSON.parse(body));
    if (read.success) return read.data.choices[0]?.message.content.trim() ?? '';
    throw new Error(`it answered ${status}: ${body.slice(0, 200)}`);
  } finally {
    await outbound.close();
  }
}

/**
 * Starts a gateway in a temporary folder on a free loopback port and sends one chat to the demonstration
 * model. Native modules, worker process and HTTP are those of an ordinary start. Never rejects.
 */
export async function selfTest(path: string | undefined): Promise<Finding> {
  const home = await mkdtemp(join(tmpdir(), 'svc-self-test-'));
  const startedAt = performance.now();
  try {
    const { startServices } = await import('../app/services.ts');
    const env = { PATH: path, HOME: home, SVC_HOME: home, SVC_PORT: '0', SVC_ESPEAK: 'off' };
    const services = await startServices(env, null, { quiet: true });
    try {
      const reply = await firstReply(services.bannerInfo().port);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      return reply.length >= MIN_REPLY_CHARS && DEMO_REPLY.startsWith(reply)
        ? ok('self-test', `The built-in engine answered with the demonstration model in ${seconds} s.`)
        : fail('self-test', `The embedded engine gave an unexpected answer: ${reply.slice(0, 80)}`, FIX);
    } finally {
      await services.stop();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error';
    return fail('self-test', `The built-in engine did not answer: ${reason.slice(0, 200)}.`, FIX);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
