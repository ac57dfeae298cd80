import { type Tool, toolProblem } from './tools.ts';

export interface VulkanDevice {
  vendorId: number;
  deviceId: number;
  integrated: boolean;
  name: string;
}

/** Parses devices from `vulkaninfo --summary`. Software renderers are dropped. */
export function parseVulkanSummary(text: string): VulkanDevice[] {
  const devices: VulkanDevice[] = [];
  for (const block of text.split(/^GPU\d+:\s*$/m).slice(1, 65)) {
    const value = (key: string) => new RegExp(`^\\s*${key}\\s*=\\s*(.*?)\\s*$`, 'm').exec(block)?.[1] ?? '';
    if (value('deviceType').endsWith('_CPU')) continue;
    const [vendorId, deviceId] = [Number(value('vendorID')), Number(value('deviceID'))];
    if (!(vendorId > 0) || !(deviceId > 0)) continue;
    devices.push({
      vendorId,
      deviceId,
      integrated: value('deviceType').endsWith('_INTEGRATED_GPU'),
      name: value('deviceName').replace(/\s*\((?:RADV|ANV|NVK|LLVM)\b[^)]*\)$/, ''),
    });
  }
  return devices;
}

/**
 * Reads Vulkan's devices. `devices` is null when the tool is not installed or failed, which does not mean
 * that Vulkan is missing.
 */
export async function readVulkan(
  tool: Tool,
): Promise<{ devices: VulkanDevice[] | null; problem: string | null }> {
  const result = await tool('vulkaninfo', ['--summary']);
  return {
    devices: result.code === 0 ? parseVulkanSummary(result.stdout) : null,
    problem: toolProblem(result),
  };
}
