/** A real vLLM on the CPU that the gateway starts for a slot: memory, health, token counts, end. Needs `--with torch`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SlotPlanView } from '../../../daemon/contract/slots.ts';
import { processTree } from '../../../daemon/lib/process/process-memory.ts';
import { isAlive } from '../../../daemon/test/harness/descendants.ts';
import { startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { type HttpResponse, replyText, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction, slot, waitForSlotState } from '../../../daemon/test/harness/slots.ts';
import { type TinyVllm, tinyVllmOrSkip, writeVersion } from './vllm-environment.ts';

const MINUTE = 60_000;
const MIB = 1024 ** 2;

const prepared = await tinyVllmOrSkip('vLLM as a slot');

const slotFile = ({ python, model }: TinyVllm, version: string): string => `
engine = "vllm"
model = ${JSON.stringify(model)}
command = [${JSON.stringify(python)}, "-m", "vllm.entrypoints.cli.main"]
device = "cpu"
context = 512
parallel = 4
autoload = false
extra_args = ["--enforce-eager", "--dtype", "float32"]
[env]
PYTHONPATH = ${JSON.stringify(writeVersion(join(version, 'version')))}
VLLM_CPU_KVCACHE_SPACE = "1"
HF_HUB_OFFLINE = "1"
`;

describe.skipIf(prepared === null)('vLLM as a slot', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vllm-slot-'));
  const gateway = new OneGateway(() =>
    startGateway({
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/slots/big.toml': slotFile(prepared as TinyVllm, folder),
      },
    }),
  );
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const chat = (content: string): Promise<HttpResponse> =>
    send(gateway, 'POST', '/v1/chat/completions', {
      body: { model: 'big', messages: [{ role: 'user', content }], max_tokens: 64, temperature: 0 },
      idleTimeoutMs: 3 * MINUTE,
    });
  const plan = async () => (await send(gateway, 'GET', '/api/slots/big/plan')).json<SlotPlanView>();
  let estimated = 0;

  it(
    'is estimated by its files and options, starts, and answers',
    async () => {
      const { need, forecast } = await plan();
      expect(need).toMatchObject({ source: 'estimated', window: 1024 * MIB });
      expect(forecast.outcome).toBe('starts');
      estimated = need.total;
      const loaded = await send(gateway, 'POST', '/api/slots/big/load', { idleTimeoutMs: 10 * MINUTE });
      expect(loaded.status).toBe(200);
      const response = await chat('hello');
      expect([response.status, typeof replyText(response)]).toEqual([200, 'string']);
    },
    12 * MINUTE,
  );

  it(
    'its whole tree is measured, and the estimate was within -5 % and +25 %',
    async () => {
      await chat('hello world '.repeat(60));
      await until(async () => (await plan()).need.source === 'measured', 'a measurement', 2 * MINUTE);
      const { need } = await plan();
      console.info(
        `vLLM: estimated ${Math.round(estimated / MIB)} MiB, measured ${Math.round(need.total / MIB)} MiB`,
      );
      expect(estimated / need.total).toBeGreaterThan(0.95);
      expect(estimated / need.total).toBeLessThan(1.25);
      const { memory_bytes: shown } = await slot(gateway, 'big');
      expect(shown).toBeGreaterThan(0.9 * need.total);
    },
    4 * MINUTE,
  );

  it('counts tokens, and sends no usage statistics', async () => {
    const count = await send(gateway, 'POST', '/v1/messages/count_tokens', {
      body: { model: 'big', messages: [{ role: 'user', content: 'hello world' }] },
    });
    expect(count.json<{ input_tokens: number }>().input_tokens).toBeGreaterThan(2);
    const { pid } = await slot(gateway, 'big');
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(environment).toEqual(
      expect.arrayContaining(['DO_NOT_TRACK=1', 'VLLM_NO_USAGE_STATS=1', 'HF_HUB_DISABLE_TELEMETRY=1']),
    );
  });

  it(
    'ends with all its processes',
    async () => {
      const { pid } = await slot(gateway, 'big');
      const pids = processTree(pid as number);
      expect(pids.length).toBeGreaterThan(2);
      await runSlotAction(gateway, 'big', 'unload');
      await waitForSlotState(gateway, 'big', 'offline', undefined, MINUTE);
      await until(() => !pids.some(isAlive), 'all processes to end', MINUTE);
    },
    4 * MINUTE,
  );
});
