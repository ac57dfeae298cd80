import { describe, expect, it } from 'vitest';
import { configOf } from '../testing/plans.ts';
import { environmentChoosesCards, visibleDeviceEnv } from './visible-devices.ts';

const CARD = ['cuda:1', 'vulkan:1'];
const VARIABLES = {
  CUDA_VISIBLE_DEVICES: '1',
  CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  GGML_VK_VISIBLE_DEVICES: '1',
};
const envFor = (text: string, card: readonly string[] | undefined = CARD) =>
  visibleDeviceEnv(configOf(text), card);
const server = (line: string) => `engine = "llama-server"\n${line}`;

describe('the GPUs that are visible to an engine', () => {
  it('with device auto are the chosen one, in the variables of every backend', () => {
    expect(envFor('')).toEqual(VARIABLES);
    expect(envFor(server('extra_args = ["-fa", "on"]'))).toEqual(VARIABLES);
    expect(envFor('', [])).toEqual({});
  });

  it.each([
    ['a split', server('extra_args = ["--tensor-split", "1,1"]')],
    ['a split in one word', server('extra_args = ["--split-mode=row"]')],
    ['a card', server('extra_args = ["-dev", "CUDA0"]')],
    ['a card behind its program', server('command = ["/p/llama-server", "-mg", "0"]')],
    ['cards by a variable', server('env = { CUDA_VISIBLE_DEVICES = "0,1" }')],
    ['a container', server('runner = "container"')],
    ['a server that runs already', server('runner = "attach"\nurl = "http://h:1"')],
  ])('with device auto are not restricted where the slot file names %s', (_, text) => {
    expect(envFor(text)).toEqual({});
  });

  it('with a named device are that device, regardless of the chosen one', () => {
    expect(envFor(server('device = "vulkan:0"'))).toEqual({ GGML_VK_VISIBLE_DEVICES: '0' });
    expect(envFor(server('device = "cuda"'))).toEqual({});
    expect(envFor(server('device = "cpu"'))).toEqual({});
    expect(envFor(server('runner = "container"\ndevice = "cuda:1"'))).toEqual({});
  });

  it('are not set when the environment of the gateway restricts them', () => {
    expect(environmentChoosesCards((name) => (name === 'ROCR_VISIBLE_DEVICES' ? '0' : undefined))).toBe(true);
    expect(environmentChoosesCards(() => undefined)).toBe(false);
  });
});
