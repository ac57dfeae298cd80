import { FAMILIES, familyByName } from '../../models/images/families.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams, MemoryParams } from './engine.ts';
import { MIB, programMemory } from './program-memory.ts';
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

/** Bytes that decoding takes per pixel of the image, measured with a decoder of Stable Diffusion at 512 x 512. */
const DECODER_BYTES_PER_PIXEL = 6.75 * 1024;
/** A checkpoint of Stable Diffusion 1.5 in half precision has 2.1 GB. Of a larger family, a smaller file is quantised. */
const MAX_SD15_BYTES = 2.2e9;

/** Returns the bytes of the largest image at the usual size of the family. Without a known family the file size decides. */
function computeBytes({ config, model }: MemoryParams): number {
  const family = config.imageSettings?.family ?? familyByName(model.id);
  const declared = family === 'flux' ? 'flux-dev' : family;
  const isSmall = declared === null && model.sizeBytes > 0 && model.sizeBytes <= MAX_SD15_BYTES;
  const { width, height } = FAMILIES[isSmall ? 'sd15' : (declared ?? 'sdxl')];
  return width * height * DECODER_BYTES_PER_PIXEL;
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
  memory: (params) => ({ ...programMemory({ engine: 64 * MIB })(params), compute: computeBytes(params) }),
  checks: (launch) => checksOf(launch, { health: '/v1/models', models: false }),
};
