import { describe, expect, it } from 'vitest';
import { type BackendSources, cudaDiagnosis, machineSources, vulkanDiagnosis } from './backend-diagnosis.ts';

const manifest = (library: string) =>
  JSON.stringify({ file_format_version: '1.0.1', ICD: { library_path: library } });
const absent = (library: string) => `${library}: cannot open shared object file: No such file or directory`;

interface Machine {
  env?: Record<string, string>;
  /** Manifest files by path. */
  files?: Record<string, string>;
  /** Messages of the dynamic linker by library; every other library loads. */
  faults?: Record<string, string>;
}
const sources = ({ env = {}, files = {}, faults = {} }: Machine): BackendSources => ({
  env,
  list: (folder) =>
    Object.keys(files)
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1)),
  read: (path) => files[path] ?? null,
  load: (library) => faults[library] ?? null,
});

const NVIDIA = { '/usr/share/vulkan/icd.d/nvidia_icd.json': manifest('libGLX_nvidia.so.0') };

describe('vulkanDiagnosis', () => {
  it.each<[string, Machine, string]>([
    [
      'no loader',
      { files: NVIDIA, faults: { 'libvulkan.so.1': absent('libvulkan.so.1') } },
      'the Vulkan loader libvulkan.so.1 is not installed (Debian: apt install libvulkan1)',
    ],
    ['no driver', {}, 'no Vulkan driver is registered (/etc/vulkan/icd.d, '],
    [
      'a variable that names an absent manifest',
      { files: NVIDIA, env: { VK_DRIVER_FILES: '/nowhere.json' } },
      'no Vulkan driver is registered (VK_DRIVER_FILES)',
    ],
    ['a damaged manifest', { files: { '/etc/vulkan/icd.d/a.json': '{' } }, 'no Vulkan driver is registered'],
    [
      'a headless machine with the NVIDIA driver (seen with driver 580 on an H100)',
      { files: NVIDIA, faults: { 'libGLX_nvidia.so.0': absent('libX11.so.6') } },
      'the Vulkan driver libGLX_nvidia.so.0 needs libX11.so.6, which is not installed (Debian: apt install libx11-6)',
    ],
    [
      'a manifest whose driver was removed',
      { files: NVIDIA, faults: { 'libGLX_nvidia.so.0': absent('libGLX_nvidia.so.0') } },
      'the Vulkan driver libGLX_nvidia.so.0 is registered, but not installed',
    ],
    [
      'one of two drivers that loads',
      {
        files: { ...NVIDIA, '/usr/share/vulkan/icd.d/lvp.json': manifest('libvulkan_lvp.so') },
        faults: { 'libGLX_nvidia.so.0': absent('libX11.so.6') },
      },
      'the Vulkan drivers offer no device',
    ],
    [
      'an index beyond the last device',
      { files: NVIDIA, env: { GGML_VK_VISIBLE_DEVICES: '7' } },
      'there is no Vulkan device with index 7',
    ],
    [
      'a relative library path',
      {
        files: { '/opt/d/icd.json': manifest('../lib/libdriver.so') },
        env: { VK_ICD_FILENAMES: '/opt/d/icd.json' },
        faults: { '/opt/lib/libdriver.so': absent('/opt/lib/libdriver.so') },
      },
      'the Vulkan driver /opt/lib/libdriver.so is registered, but not installed',
    ],
  ])('names %s', (_, machine, expected) => {
    expect(vulkanDiagnosis(sources(machine))).toContain(expected);
  });

  it('reads this machine without a failure', () => {
    expect(vulkanDiagnosis(machineSources())).toMatch(/Vulkan/);
  });
});

it('names the command that adds the CUDA binaries', () => {
  expect(cudaDiagnosis()).toContain('npm run cuda');
});

it('distinguishes a loaded library from a missing one', () => {
  expect(machineSources().load('libc.so.6')).toBeNull();
  expect(machineSources().load('libabsent.so.1')).toContain('libabsent.so.1: cannot open');
});
