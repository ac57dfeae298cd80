/** The thinking switch of a chat on a real llama-server. The response shows which value reached the chat template. */
import { expect, it } from 'vitest';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { slot } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { expectThinkingSwitch } from '../../../daemon/test/harness/thinking.ts';
import { tinyModel } from '../../../daemon/test/harness/tiny-gateway.ts';

const program = part('llama-server');
const real = `engine = "llama-server"\nmodel = "tiny"\ndevice = "cpu"\ncontext = 512\nparallel = 1\ncommand = ["${program}"]\n`;

const gateway = new OneGateway(() =>
  startGateway({
    models: { tiny: tinyModel() },
    files: { 'config/slots/agent.toml': 'autoload = false\n', 'config/slots/real.toml': real },
  }),
);

it.skipIf(program === null)('reads the default of the model and both fields of a request', async () => {
  await expectThinkingSwitch(gateway, 'svc/real');
  expect(await slot(gateway, 'real')).toMatchObject({ engine: 'llama-server', state: 'ready' });
});
