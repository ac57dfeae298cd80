import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import { GIB, MIB, programMemory } from './program-memory.ts';
import type { Probe } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

/** It listens only after its model is loaded. */
const PROBE: Probe = { path: '/v1/models', loading: [503] };

function plan(params: LaunchParams): Launch {
  const { config, threads } = params;
  const launch = { ...commonLaunch(params, { nativeRerank: false, model: null }), parallel: 1 };
  if (config.runner === 'attach') return { ...launch, how: attachSpec(config, PROBE) };
  const how = processSpec(config, {
    command: 'sd-server',
    args: ['-m', '{model}', '--listen-ip', '{host}', '--listen-port', '{port}', '-t', String(threads)],
    key: { by: 'none' },
    probe: PROBE,
    install: 'Install stable-diffusion.cpp or name its program: command = ["/path/sd-server"].',
  });
  return { ...launch, how };
}

function objection(config: SlotConfig): string | null {
  if (config.runner === 'process' && config.model === null) {
    return 'model: engine sd-server needs the path of an image model';
  }
  if (backendOf(config.device) !== 'npu') return null;
  return 'device: engine sd-server runs on auto, cpu, cuda:N, rocm:N or vulkan:N, not on npu';
}

/** stable-diffusion.cpp's server: one image model per process, one image at a time. It has no keys. */
export const sdServer: Engine = {
  id: 'sd-server',
  types: new Set(['image']),
  runners: new Set(['process', 'attach']),
  modelSource: ({ runner }) => (runner === 'attach' ? 'name' : 'file'),
  objection,
  plan,
  context: () => 0,
  memory: programMemory({ engine: 200 * MIB, compute: 2 * GIB }),
  checks: (launch) => checksOf(launch, { health: '/v1/models', models: false }),
};
