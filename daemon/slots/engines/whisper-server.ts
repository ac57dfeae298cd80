import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import { MIB, programMemory } from './program-memory.ts';
import type { Probe } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

const PROBE: Probe = { path: '/health', loading: [503] };
const DEVICES = ['auto', 'cpu', 'cuda', 'rocm', 'vulkan'];

function argsOf({ config, threads }: LaunchParams): string[] {
  const device = config.device === 'cpu' ? ['-ng'] : [];
  return [
    ...['-m', '{model}', '--host', '{host}', '--port', '{port}', '-t', String(threads)],
    ...['--inference-path', '/v1/audio/transcriptions', ...device],
  ];
}

function plan(params: LaunchParams): Launch {
  const { config } = params;
  const launch = { ...commonLaunch(params, { nativeRerank: false, model: null }), parallel: 1 };
  if (config.runner === 'attach') return { ...launch, how: attachSpec(config, PROBE) };
  const how = processSpec(config, {
    command: 'whisper-server',
    args: argsOf(params),
    key: { by: 'none' },
    probe: PROBE,
    install: 'Install whisper.cpp or name the program: command = ["/path/whisper-server"].',
  });
  return { ...launch, how };
}

function objection(config: SlotConfig): string | null {
  if (config.runner === 'process' && config.model === null) {
    return 'model: engine whisper-server needs the path of a ggml whisper model';
  }
  if (DEVICES.includes(backendOf(config.device))) return null;
  return `device: engine whisper-server runs on auto, cpu, cuda:N, rocm:N or vulkan:N, not on ${config.device}`;
}

/** whisper.cpp's server: one transcription at a time, whatever `parallel` says. It has no keys. */
export const whisperServer: Engine = {
  id: 'whisper-server',
  types: new Set(['stt']),
  runners: new Set(['process', 'attach']),
  modelSource: ({ runner }) => (runner === 'attach' ? 'name' : 'file'),
  objection,
  plan,
  streams: false,
  context: () => 0,
  memory: programMemory({ engine: 156 * MIB, perByte: 1.5 }),
  checks: (launch) => checksOf(launch, { health: '/health', models: false }),
};
