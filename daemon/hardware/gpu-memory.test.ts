import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { cardMemory, parseCardApps, parseFdinfo, sumClients } from './gpu-memory.ts';
import { openTree } from './kernel-tree.ts';
import type { Tool } from './tools.ts';

const MIB = 1024 ** 2;
const CARD = '0000:01:00.0';

/** Output of nvidia-smi 550 with nounits. */
const APPS = `00000000:01:00.0, 4711, 18240
00000000:01:00.0, 4712, 510
00000000:21:00.0, 4711, 300
00000000:01:00.0, 9999, 1024
00000000:01:00.0, 4713, [N/A]
`;
/** Output of amdgpu (Linux 6.8). */
const AMDGPU = `pos:\t0
flags:\t02100002
mnt_id:\t26
ino:\t742
drm-driver:\tamdgpu
drm-client-id:\t57
drm-pdev:\t0000:0b:00.0
pasid:\t32770
drm-total-cpu:\t0
drm-memory-vram:\t4718592 KiB
drm-memory-gtt: \t20480 KiB
drm-memory-cpu: \t0 KiB
drm-engine-gfx:\t48104236 ns
`;
/** Output of xe (Linux 6.12): one region per tile. */
const XE = `drm-driver:\txe
drm-client-id:\t3
drm-pdev:\t0000:03:00.0
drm-total-system:\t0
drm-total-vram0:\t6 MiB
drm-shared-vram0:\t0
drm-resident-vram0:\t4 MiB
drm-resident-vram1:\t1024 KiB
`;

test.each([
  [[4711, 4712], (18240 + 510) * MIB],
  [[4712], 510 * MIB],
  [[4713], null],
  [[1], null],
])('nvidia-smi: processes %j use %s', (pids, bytes) => {
  expect(parseCardApps(APPS, CARD, new Set(pids))).toBe(bytes);
});

test('returns nothing for output that is not a list', () => {
  expect(parseCardApps('No running processes found\n', CARD, new Set([4711]))).toBeNull();
  expect(parseCardApps('', CARD, new Set([4711]))).toBeNull();
});

test('fdinfo: GPU memory, resident first, without host memory', () => {
  expect(parseFdinfo(AMDGPU)).toEqual({ card: '0000:0b:00.0', id: '57', bytes: 4718592 * 1024 });
  expect(parseFdinfo(XE)).toEqual({ card: '0000:03:00.0', id: '3', bytes: 5 * MIB });
  expect(parseFdinfo(AMDGPU, '(vram|gtt)')).toMatchObject({ bytes: 4739072 * 1024 });
  expect(parseFdinfo('pos:\t0\nflags:\t02\n')).toBeNull();
  expect(parseFdinfo('drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t1\n')).toBeNull();
});

test('counts the descriptors of one client once', () => {
  const client = parseFdinfo(XE);
  expect(sumClients([client, client, null, parseFdinfo(AMDGPU)], '0000:03:00.0')).toBe(5 * MIB);
  expect(sumClients([client], '0000:0b:00.0')).toBeNull();
});

test('adds up the memory of a process family from kernel files', async () => {
  const root = scratch();
  for (const [pid, text] of [
    [11, AMDGPU],
    [12, AMDGPU.replace('\t57', '\t58')],
  ] as const) {
    mkdirSync(join(root, `proc/${pid}/fdinfo`), { recursive: true });
    writeFileSync(join(root, `proc/${pid}/fdinfo/5`), text);
    writeFileSync(join(root, `proc/${pid}/fdinfo/6`), 'pos:\t0\n');
  }
  const unusedTool: Tool = () => Promise.reject(new Error('no tool is needed'));
  const sources = { tree: openTree(root), tool: unusedTool };
  const card = { id: '0000:0b:00.0', vendor: 'amd', toolAnswered: false } as const;
  expect(await cardMemory(sources, card, [11, 12, 13])).toBe(2 * 4718592 * 1024);
  expect(await cardMemory(sources, card, [11], true)).toBe((4718592 + 20480) * 1024);
  expect(await cardMemory(sources, { ...card, vendor: 'nvidia' }, [11])).toBeNull();
});
