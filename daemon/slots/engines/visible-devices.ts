import type { SlotConfig } from '../config/slot-config.ts';

/** Returns the backend of a device word: `cuda:1` → `cuda`. */
export const backendOf = (device: string): string => device.split(':')[0] as string;

/** The variables that restrict a backend to one device. */
const DEVICE_VARIABLES: Readonly<Record<string, string>> = {
  vulkan: 'GGML_VK_VISIBLE_DEVICES',
  cuda: 'CUDA_VISIBLE_DEVICES',
  rocm: 'HIP_VISIBLE_DEVICES',
};
const CARD_VARIABLES = [...Object.values(DEVICE_VARIABLES), 'ROCR_VISIBLE_DEVICES'];

/** Arguments of a slot file that spread a model over cards or choose a card. */
const CARD_ARGUMENTS =
  /^(-dev|--device|-ts|--tensor-split|-sm|--split-mode|-mg|--main-gpu|-(tp|pp|dp)|--(tensor|pipeline|data)-parallel-size|--(cuda|default)-device)(=|$)/;

/** Returns the variables that select one device by number; none when the word leaves the choice to the engine. */
function deviceEnv(device: string): Record<string, string> {
  const [backend, index] = device.split(':');
  const variable = DEVICE_VARIABLES[backend as string];
  if (variable === undefined || index === undefined) return {};
  // CUDA numbers the fastest card first unless it is set to the order of the kernel and nvidia-smi.
  return { [variable]: index, ...(backend === 'cuda' ? { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' } : {}) };
}

function slotChoosesCards({ command, extraArgs, env }: SlotConfig): boolean {
  const words = [...(command ?? []), ...extraArgs];
  return CARD_VARIABLES.some((name) => name in env) || words.some((word) => CARD_ARGUMENTS.test(word));
}

/** Returns whether admission may choose the card of a slot. */
export const canChooseCard = (config: SlotConfig): boolean =>
  config.device === 'auto' &&
  config.runner !== 'attach' &&
  config.runner !== 'container' &&
  !slotChoosesCards(config);

/**
 * Returns the variables that restrict an engine to the device of its slot. With `auto` this is the `card` that
 * admission chose, with one word per backend, unless the slot file chooses cards itself.
 */
export function visibleDeviceEnv(config: SlotConfig, card: readonly string[] = []): Record<string, string> {
  const { runner, device } = config;
  // Inside a container only the chosen NVIDIA GPU is visible, so its number means nothing.
  if (runner === 'container') return backendOf(device) === 'cuda' ? {} : deviceEnv(device);
  if (device !== 'auto') return deviceEnv(device);
  return canChooseCard(config) ? Object.assign({}, ...card.map(deviceEnv)) : {};
}

/** Returns whether the gateway's environment restricts the visible cards; then admission chooses none. */
export const environmentChoosesCards = (environment: (name: string) => string | undefined): boolean =>
  CARD_VARIABLES.some((name) => environment(name) !== undefined);
