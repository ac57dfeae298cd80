import type { SlotConfig } from '../config/slot-file.ts';

/** The backend of a device word: `cuda:1` → `cuda`. */
export const backendOf = (device: string): string => device.split(':')[0] as string;

/** The variables that show one device of a backend only. */
const DEVICE_VARIABLES: Readonly<Record<string, string>> = {
  vulkan: 'GGML_VK_VISIBLE_DEVICES',
  cuda: 'CUDA_VISIBLE_DEVICES',
  rocm: 'HIP_VISIBLE_DEVICES',
};
const CARD_VARIABLES = [...Object.values(DEVICE_VARIABLES), 'ROCR_VISIBLE_DEVICES'];

/** Words of a slot file that spread a model over cards, or say themselves which card is meant. */
const CARD_ARGUMENTS =
  /^(-dev|--device|-ts|--tensor-split|-sm|--split-mode|-mg|--main-gpu|-(tp|pp|dp)|--(tensor|pipeline|data)-parallel-size|--(cuda|default)-device)(=|$)/;

/** The variables that pick one device by number; none when the word leaves that to the engine. */
function deviceEnv(device: string): Record<string, string> {
  const [backend, index] = device.split(':');
  const variable = DEVICE_VARIABLES[backend as string];
  if (variable === undefined || index === undefined) return {};
  // CUDA counts the fastest card first unless it is told to count as the kernel and nvidia-smi do.
  return { [variable]: index, ...(backend === 'cuda' ? { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' } : {}) };
}

function slotChoosesCards({ command, extraArgs, env }: SlotConfig): boolean {
  const words = [...(command ?? []), ...extraArgs];
  return CARD_VARIABLES.some((name) => name in env) || words.some((word) => CARD_ARGUMENTS.test(word));
}

/** Whether the card of a slot with device `auto` may be chosen for its engine. */
export const canChooseCard = (config: SlotConfig): boolean =>
  config.device === 'auto' &&
  config.runner !== 'attach' &&
  config.runner !== 'container' &&
  !slotChoosesCards(config);

/**
 * The variables that show an engine the device of its slot only; with `auto` the `card` that admission chose, which has a
 * word for each backend, unless the slot file says more of cards itself.
 */
export function visibleDeviceEnv(config: SlotConfig, card: readonly string[] = []): Record<string, string> {
  const { runner, device } = config;
  // Inside a container only the chosen GPU of NVIDIA is there, so that its number says nothing.
  if (runner === 'container') return backendOf(device) === 'cuda' ? {} : deviceEnv(device);
  if (device !== 'auto') return deviceEnv(device);
  return canChooseCard(config) ? Object.assign({}, ...card.map(deviceEnv)) : {};
}

/** Whether the gateway's own environment says which cards its engines see: then nothing is chosen among them. */
export const environmentChoosesCards = (environment: (name: string) => string | undefined): boolean =>
  CARD_VARIABLES.some((name) => environment(name) !== undefined);
