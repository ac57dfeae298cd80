/** What predicting tokens from repeats of the text gains on a real model (docs/spec/contract.md#experts-on-the-cpu). */
import { expect, it } from 'vitest';
import type { BenchResultView } from '../../../daemon/contract/bench.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { isFasterAhead } from '../../../daemon/models/ngram-speed.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { forTest } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction } from '../../../daemon/test/harness/slots.ts';
import { smollm2 } from '../harness/real-models.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const REQUEST_LIMIT_MS = 590_000;

it('svcctl bench decides whether SmolLM2 predicts tokens', async () => {
  const model = await availableOrSkip('SmolLM2 135M', smollm2);
  if (model === null) return;
  const gateway = await forTest(
    startGateway({
      env: { SVC_MODEL: model },
      files: {
        'config/slots/agent.toml': 'context = 1024\nparallel = 1\ndevice = "cpu"\nautoload = false\n',
      },
    }),
  );
  const measured = await send(gateway, 'POST', '/api/models/bench', {
    body: {},
    idleTimeoutMs: REQUEST_LIMIT_MS,
  });
  expect(measured.status, measured.text).toBe(200);
  const { ngram } = measured.json<BenchResultView>();
  if (ngram === null) throw new Error('the embedded engine reported no speed');
  const times = ({ off, ngram: ahead }: typeof ngram.plain) => (ahead / off).toFixed(2);
  console.info(
    `n-gram lookup, SmolLM2 135M: ${times(ngram.repeats)} times for text that repeats, ${times(ngram.plain)} times for other text`,
  );

  await runSlotAction(gateway, 'agent', 'unload');
  const record = (await send(gateway, 'GET', '/api/slots/agent')).json<SlotRecord>();
  expect(record.speculation?.way).toBe(isFasterAhead(ngram) ? 'ngram' : 'off');
}, 900_000);
